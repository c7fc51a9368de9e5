"""The public methods of MLflow's tracking store, workspace store and artifact repositories that were looked at.

Those that delete or overwrite are guarded in keeping.py; none of the others takes away a run, a logged model or a
file of one. A method that is not here stops the server's start (surface.py).
"""

from typing import Final

from shipworthy.mlflow.surface import names

TRACKING_METHODS: Final = names(
    """
    ARTIFACTS_FOLDER_NAME DEFAULT_EXPERIMENT_ID EVALUATION_DATASET_ID_PREFIX MODELS_FOLDER_NAME
    TRACE_FOLDER_NAME add_dataset_to_experiments add_guardrail_to_endpoint add_items_to_review_queue
    archive_traces attach_model_to_endpoint batch_get_trace_infos batch_get_traces
    calculate_trace_filter_correlation create_assessment create_budget_policy create_dataset
    create_endpoint_binding create_experiment create_gateway_endpoint create_gateway_guardrail
    create_gateway_model_definition create_gateway_secret create_issue create_label_schema create_logged_model
    create_mcp_access_endpoint create_mcp_server create_mcp_server_version create_review_queue create_run
    delete_assessment delete_budget_policy delete_dataset delete_dataset_records delete_dataset_tag
    delete_endpoint_binding delete_experiment delete_experiment_tag delete_gateway_endpoint
    delete_gateway_endpoint_tag delete_gateway_guardrail delete_gateway_model_definition delete_gateway_secret
    delete_label_schema delete_logged_model delete_logged_model_tag delete_mcp_access_endpoint
    delete_mcp_server delete_mcp_server_alias delete_mcp_server_tag delete_mcp_server_version
    delete_mcp_server_version_tag delete_review_queue delete_run delete_scorer delete_tag delete_trace_tag
    delete_traces deprecated_end_trace_v2 deprecated_start_trace_v2 detach_model_from_endpoint
    end_async_logging filter_active_experiment_ids finalize_logged_model find_completed_sessions
    flush_async_logging get_active_online_scorers get_assessment get_budget_policy get_dataset
    get_dataset_experiment_ids get_experiment get_experiment_by_name get_gateway_endpoint
    get_gateway_guardrail get_gateway_model_definition get_issue get_label_schema get_label_schema_by_name
    get_latest_mcp_server_version get_logged_model get_max_step_for_metric get_mcp_access_endpoint
    get_mcp_server get_mcp_server_version get_mcp_server_version_by_alias get_mcp_server_versions_for_trace
    get_metric_history get_metric_history_bulk get_metric_history_bulk_interval
    get_metric_history_bulk_interval_from_steps get_online_scoring_configs get_online_trace_details
    get_or_create_user_queue get_review_queue get_review_queue_by_name get_run get_scorer get_secret_info
    get_trace get_trace_info link_mcp_server_versions_to_trace link_prompts_to_trace link_traces_to_run
    list_budget_policies list_endpoint_bindings list_endpoint_guardrail_configs list_gateway_endpoints
    list_gateway_guardrails list_gateway_model_definitions list_label_schemas list_review_queue_items
    list_review_queues list_scorer_versions list_scorers list_scorers_across_experiments list_secret_infos
    log_batch log_batch_async log_inputs log_logged_model_params log_metric log_metric_async log_outputs
    log_param log_param_async log_spans log_spans_async query_trace_metrics record_logged_model
    register_scorer remove_dataset_from_experiments remove_guardrail_from_endpoint
    remove_items_from_review_queue rename_experiment resolve_endpoint_in_scorer resolve_trace_archival_config
    restore_experiment restore_run sanitize_metric_value search_datasets search_entities_by_destination
    search_entities_by_source search_experiments search_issues search_logged_models
    search_mcp_access_endpoints search_mcp_server_versions search_mcp_servers search_runs search_traces
    secret_cache set_dataset_tags set_experiment_tag set_gateway_endpoint_tag set_logged_model_tags
    set_mcp_server_alias set_mcp_server_tag set_mcp_server_version_tag set_model_versions_tags
    set_review_queue_item_status set_tag set_tag_async set_trace_tag shut_down_async_logging start_trace
    sum_gateway_trace_cost supports_trace_archival supports_workspaces unlink_traces_from_run
    update_assessment update_budget_policy update_endpoint_guardrail_config update_gateway_endpoint
    update_gateway_model_definition update_gateway_secret update_issue update_label_schema
    update_mcp_access_endpoint update_mcp_server update_mcp_server_version update_review_queue update_run_info
    upsert_dataset_records upsert_online_scoring_config
    """
)
WORKSPACE_METHODS: Final = names(
    """
    create_workspace delete_workspace get_default_workspace get_workspace list_workspaces
    resolve_artifact_root resolve_trace_archival_config update_workspace
    """
)
ARTIFACT_METHODS: Final = names(
    """
    abort_multipart_upload complete_multipart_upload create_multipart_upload create_presigned_upload_url
    delete_artifacts download_archived_trace_data download_artifacts download_trace_attachment
    download_trace_attachment_to_file download_trace_data download_trace_data_to_file flush_async_logging
    get_download_presigned_url get_local_path list_artifacts log_artifact log_artifact_from_async_stream
    log_artifact_from_stream log_artifacts max_workers upload_archived_trace_data
    upload_archived_trace_data_bytes upload_attachment upload_trace_data
    """
)
