CREATE TABLE record (
    position BIGINT NOT NULL,
    digest VARCHAR(71) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    kind VARCHAR(64) NOT NULL,
    subject VARCHAR(800) NOT NULL,
    idempotency_key VARCHAR(700) NOT NULL,
    content_digest VARCHAR(71) NOT NULL,
    level VARCHAR(16) NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    payload BLOB NOT NULL,
    leaf_hash BLOB NOT NULL,
    CONSTRAINT pk_record PRIMARY KEY (position),
    CONSTRAINT uq_record_digest UNIQUE (digest),
    CONSTRAINT uq_record_idempotency_key_namespace UNIQUE (idempotency_key, namespace),
    CONSTRAINT ck_record_position CHECK (position >= 0),
    CONSTRAINT ck_record_digest CHECK (length(digest) = 71),
    CONSTRAINT ck_record_leaf_hash CHECK (length(leaf_hash) = 32),
    CONSTRAINT ck_record_payload CHECK (length(payload) BETWEEN 1 AND 262144)
);
--
CREATE INDEX ix_record_subject_namespace_position ON record (subject, namespace, position);
--
CREATE TABLE tree_node (
    level INTEGER NOT NULL,
    "index" BIGINT NOT NULL,
    hash BLOB NOT NULL,
    CONSTRAINT pk_tree_node PRIMARY KEY (level, "index"),
    CONSTRAINT ck_tree_node_place CHECK (level > 0 AND "index" >= 0),
    CONSTRAINT ck_tree_node_hash CHECK (length(hash) = 32)
);
--
CREATE TABLE tree_head (
    id BIGINT NOT NULL,
    origin VARCHAR(256) NOT NULL,
    size BIGINT NOT NULL,
    frontier BLOB NOT NULL,
    note TEXT NOT NULL,
    committed_at VARCHAR(26) NOT NULL,
    CONSTRAINT pk_tree_head PRIMARY KEY (id),
    CONSTRAINT ck_tree_head_size CHECK (id >= 0 AND size >= 0)
);
--
CREATE TABLE disclosure (
    digest VARCHAR(71) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    salt BLOB NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_disclosure PRIMARY KEY (digest)
);
--
CREATE TABLE api_key (
    key_id VARCHAR(32) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    roles VARCHAR(256) NOT NULL,
    groups TEXT NOT NULL,
    level VARCHAR(16) NOT NULL,
    owner VARCHAR(64),
    who VARCHAR(71),
    secret_hmac BLOB NOT NULL,
    created_at VARCHAR(26) NOT NULL,
    expires_at VARCHAR(26),
    revoked_at VARCHAR(26),
    CONSTRAINT pk_api_key PRIMARY KEY (key_id)
);
--
CREATE INDEX ix_api_key_namespace_created_at_key_id ON api_key (namespace, created_at, key_id);
--
CREATE TABLE ended_session (
    session_id VARCHAR(32) NOT NULL,
    expires_at VARCHAR(26) NOT NULL,
    CONSTRAINT pk_ended_session PRIMARY KEY (session_id)
);
--
CREATE TABLE run (
    namespace VARCHAR(256) NOT NULL,
    run_id VARCHAR(36) NOT NULL,
    position BIGINT NOT NULL,
    job_namespace VARCHAR(256) NOT NULL,
    job_name VARCHAR(512) NOT NULL,
    team VARCHAR(256),
    owner VARCHAR(64),
    state VARCHAR(16) NOT NULL,
    started_at VARCHAR(26),
    ended_at VARCHAR(26),
    last_event_at VARCHAR(26) NOT NULL,
    heartbeat_seconds INTEGER,
    last_step BIGINT,
    recipe_digest VARCHAR(71),
    family_digest VARCHAR(71),
    document TEXT NOT NULL,
    CONSTRAINT pk_run PRIMARY KEY (namespace, run_id)
);
--
CREATE INDEX ix_run_family_digest_namespace ON run (family_digest, namespace);
--
CREATE INDEX ix_run_namespace_job_namespace_job_name_position ON run (namespace, job_namespace, job_name, position);
--
CREATE INDEX ix_run_namespace_position ON run (namespace, position);
--
CREATE INDEX ix_run_recipe_digest_namespace ON run (recipe_digest, namespace);
--
CREATE INDEX ix_run_open ON run (namespace, position) WHERE state NOT IN ('completed', 'failed', 'aborted');
--
CREATE TABLE run_link (
    run_id VARCHAR(36) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    direction VARCHAR(3) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    role VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_run_link PRIMARY KEY (run_id, namespace, direction, kind, role, digest)
);
--
CREATE INDEX ix_run_link_digest_namespace_direction ON run_link (digest, namespace, direction);
--
CREATE TABLE ingredient (
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_ingredient PRIMARY KEY (namespace, digest)
);
--
CREATE TABLE snapshot (
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    dataset_name VARCHAR(512) NOT NULL,
    grade VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_snapshot PRIMARY KEY (namespace, digest)
);
--
CREATE TABLE snapshot_before (
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    until BIGINT NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_snapshot_before PRIMARY KEY (namespace, digest, until)
);
--
CREATE TABLE snapshot_name (
    namespace VARCHAR(256) NOT NULL,
    dataset_namespace VARCHAR(256) NOT NULL,
    dataset_name VARCHAR(512) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_snapshot_name PRIMARY KEY (namespace, dataset_namespace, dataset_name, digest)
);
--
CREATE INDEX ix_snapshot_name_digest_namespace ON snapshot_name (digest, namespace);
--
CREATE INDEX ix_snapshot_name_namespace_dataset_namespace_dataset_name_position ON snapshot_name (namespace, dataset_namespace, dataset_name, position);
--
CREATE TABLE checkpoint (
    run_id VARCHAR(36) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    step BIGINT NOT NULL,
    trained_until VARCHAR(26) NOT NULL,
    level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_checkpoint PRIMARY KEY (run_id, namespace, digest)
);
--
CREATE INDEX ix_checkpoint_digest_namespace ON checkpoint (digest, namespace);
--
CREATE INDEX ix_checkpoint_run_id_namespace_step ON checkpoint (run_id, namespace, step);
--
CREATE TABLE checkpoint_verification (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    checkpoint VARCHAR(71) NOT NULL,
    level VARCHAR(16) NOT NULL,
    outcome VARCHAR(8) NOT NULL,
    checked_at VARCHAR(26) NOT NULL,
    evidence_level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_checkpoint_verification PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_checkpoint_verification_checkpoint_namespace ON checkpoint_verification (checkpoint, namespace);
--
CREATE TABLE artifact (
    run_id VARCHAR(36) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    role VARCHAR(256) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_artifact PRIMARY KEY (run_id, namespace, digest, role)
);
--
CREATE INDEX ix_artifact_digest_namespace ON artifact (digest, namespace);
--
CREATE TABLE evaluation (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    subject VARCHAR(71),
    run_id VARCHAR(36),
    dataset VARCHAR(71),
    attempt VARCHAR(71),
    repeat BIGINT NOT NULL,
    evidence_level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_evaluation PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_evaluation_attempt ON evaluation (attempt, namespace, repeat) WHERE attempt IS NOT NULL;
--
CREATE INDEX ix_evaluation_run_id_namespace_position ON evaluation (run_id, namespace, position);
--
CREATE INDEX ix_evaluation_subject_namespace_position ON evaluation (subject, namespace, position);
--
CREATE TABLE model_version (
    namespace VARCHAR(256) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    model VARCHAR(256) NOT NULL,
    version VARCHAR(128) NOT NULL,
    artifact VARCHAR(71) NOT NULL,
    run_id VARCHAR(36) NOT NULL,
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_model_version PRIMARY KEY (namespace, registry_name, model, version)
);
--
CREATE INDEX ix_model_version_artifact_namespace ON model_version (artifact, namespace);
--
CREATE INDEX ix_model_version_namespace_model_position ON model_version (namespace, model, position);
--
CREATE INDEX ix_model_version_run_id_namespace ON model_version (run_id, namespace);
--
CREATE TABLE lineage_manifest (
    namespace VARCHAR(256) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    model VARCHAR(256) NOT NULL,
    version VARCHAR(128) NOT NULL,
    revision INTEGER NOT NULL,
    digest VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_lineage_manifest PRIMARY KEY (namespace, registry_name, model, version, revision)
);
--
CREATE INDEX ix_lineage_manifest_digest_namespace ON lineage_manifest (digest, namespace);
--
CREATE TABLE revocation (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    revoked VARCHAR(71) NOT NULL,
    effect VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_revocation PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_revocation_revoked ON revocation (revoked);
--
CREATE TABLE run_progress (
    namespace VARCHAR(256) NOT NULL,
    run_id VARCHAR(36) NOT NULL,
    process VARCHAR(256) NOT NULL,
    step BIGINT,
    phase VARCHAR(256),
    received_at VARCHAR(26) NOT NULL,
    CONSTRAINT pk_run_progress PRIMARY KEY (namespace, run_id, process)
);
--
CREATE TABLE contract (
    namespace VARCHAR(256) NOT NULL,
    name VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) NOT NULL,
    suite_digest VARCHAR(71) NOT NULL,
    baseline VARCHAR(71),
    objects TEXT NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_contract PRIMARY KEY (namespace, name)
);
--
CREATE INDEX ix_contract_namespace_position ON contract (namespace, position);
--
CREATE TABLE contract_version (
    namespace VARCHAR(256) NOT NULL,
    name VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) NOT NULL,
    suite_digest VARCHAR(71) NOT NULL,
    baseline VARCHAR(71),
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_contract_version PRIMARY KEY (namespace, name, version)
);
--
CREATE TABLE baseline (
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    manifest VARCHAR(71) NOT NULL,
    owner VARCHAR(256),
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT pk_baseline PRIMARY KEY (namespace, digest)
);
--
CREATE INDEX ix_baseline_namespace_position ON baseline (namespace, position);
--
CREATE TABLE baseline_approval (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    baseline VARCHAR(71) NOT NULL,
    owner VARCHAR(64) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_baseline_approval PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_baseline_approval_baseline_namespace_position ON baseline_approval (baseline, namespace, position);
--
CREATE TABLE contract_check (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    contract VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    object VARCHAR(256) NOT NULL,
    manifest VARCHAR(71) NOT NULL,
    transformation VARCHAR(71),
    parameters VARCHAR(71) NOT NULL,
    as_of VARCHAR(26) NOT NULL,
    run_id VARCHAR(36),
    outcome VARCHAR(16) NOT NULL,
    evidence_level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_contract_check PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_contract_check_namespace_contract_position ON contract_check (namespace, contract, position);
--
CREATE INDEX ix_contract_check_manifest_namespace_position ON contract_check (manifest, namespace, position);
--
CREATE INDEX ix_contract_check_namespace_outcome_position ON contract_check (namespace, outcome, position);
--
CREATE INDEX ix_contract_check_namespace_position ON contract_check (namespace, position);
--
CREATE INDEX ix_contract_check_transformation_namespace ON contract_check (transformation, namespace);
--
CREATE TABLE evaluation_attempt (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    model VARCHAR(256) NOT NULL,
    candidate VARCHAR(71) NOT NULL,
    incumbent VARCHAR(71),
    dataset VARCHAR(71) NOT NULL,
    evaluator VARCHAR(71) NOT NULL,
    config VARCHAR(71) NOT NULL,
    protocol_digest VARCHAR(71) NOT NULL,
    repeats INTEGER NOT NULL,
    number BIGINT NOT NULL,
    received INTEGER NOT NULL,
    state VARCHAR(16) NOT NULL,
    opened_at VARCHAR(26) NOT NULL,
    expires_at VARCHAR(26) NOT NULL,
    ended_at VARCHAR(26),
    ended_by VARCHAR(71),
    owner VARCHAR(64),
    evidence_level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_evaluation_attempt PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_evaluation_attempt_candidate_namespace_position ON evaluation_attempt (candidate, namespace, position);
--
CREATE INDEX ix_evaluation_attempt_dataset_namespace_position ON evaluation_attempt (dataset, namespace, position);
--
CREATE INDEX ix_evaluation_attempt_namespace_model_position ON evaluation_attempt (namespace, model, position);
--
CREATE INDEX ix_evaluation_attempt_namespace_position ON evaluation_attempt (namespace, position);
--
CREATE INDEX ix_evaluation_attempt_namespace_state_position ON evaluation_attempt (namespace, state, position);
--
CREATE INDEX ix_evaluation_attempt_open ON evaluation_attempt (expires_at) WHERE state = 'open';
--
CREATE TABLE attempt_count (
    namespace VARCHAR(256) NOT NULL,
    dataset VARCHAR(71) NOT NULL,
    attempts BIGINT NOT NULL,
    CONSTRAINT pk_attempt_count PRIMARY KEY (namespace, dataset)
);
--
CREATE INDEX ix_attempt_count_dataset ON attempt_count (dataset);
--
CREATE TABLE attempt_extension (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    dataset VARCHAR(71) NOT NULL,
    extra INTEGER NOT NULL,
    owner VARCHAR(64) NOT NULL,
    reason TEXT NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_attempt_extension PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_attempt_extension_dataset_namespace_position ON attempt_extension (dataset, namespace, position);
--
CREATE INDEX ix_attempt_extension_namespace_position ON attempt_extension (namespace, position);
--
CREATE TABLE statistic (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    attempt VARCHAR(71) NOT NULL,
    candidate VARCHAR(71) NOT NULL,
    incumbent VARCHAR(71),
    dataset VARCHAR(71) NOT NULL,
    protocol_digest VARCHAR(71) NOT NULL,
    outcome VARCHAR(8) NOT NULL,
    evidence_level VARCHAR(16) NOT NULL,
    inputs_level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_statistic PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_statistic_attempt_namespace_position ON statistic (attempt, namespace, position);
--
CREATE INDEX ix_statistic_candidate_namespace_position ON statistic (candidate, namespace, position);
--
CREATE TABLE evidence (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    subject VARCHAR(71) NOT NULL,
    kind VARCHAR(256) NOT NULL,
    outcome VARCHAR(8) NOT NULL,
    producer VARCHAR(256) NOT NULL,
    produced_at VARCHAR(26) NOT NULL,
    expires_at VARCHAR(26),
    evidence_level VARCHAR(16) NOT NULL,
    position BIGINT NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_evidence PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_evidence_namespace_kind_position ON evidence (namespace, kind, position);
--
CREATE INDEX ix_evidence_namespace_position ON evidence (namespace, position);
--
CREATE INDEX ix_evidence_subject_namespace_position ON evidence (subject, namespace, position);
--
CREATE TABLE gate (
    namespace VARCHAR(256) NOT NULL,
    name VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) NOT NULL,
    document_digest VARCHAR(71) NOT NULL,
    model VARCHAR(256) NOT NULL,
    target VARCHAR(256) NOT NULL,
    owner VARCHAR(64),
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_gate PRIMARY KEY (namespace, name)
);
--
CREATE INDEX ix_gate_model_namespace_target ON gate (model, namespace, target);
--
CREATE INDEX ix_gate_namespace_position ON gate (namespace, position);
--
CREATE TABLE gate_version (
    namespace VARCHAR(256) NOT NULL,
    name VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) NOT NULL,
    document_digest VARCHAR(71) NOT NULL,
    owner VARCHAR(64),
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_gate_version PRIMARY KEY (namespace, name, version)
);
--
CREATE TABLE gate_decision (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    type VARCHAR(16) NOT NULL,
    mode VARCHAR(16) NOT NULL,
    verdict VARCHAR(16) NOT NULL,
    model VARCHAR(256) NOT NULL,
    version VARCHAR(128),
    target VARCHAR(256) NOT NULL,
    artifact VARCHAR(71) NOT NULL,
    gate VARCHAR(128),
    gate_version INTEGER,
    valid_until VARCHAR(26),
    position BIGINT NOT NULL,
    summary TEXT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_gate_decision PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_gate_decision_artifact_namespace_mode_model_target_position ON gate_decision (artifact, namespace, mode, model, target, position);
--
CREATE INDEX ix_gate_decision_namespace_gate_position ON gate_decision (namespace, gate, position);
--
CREATE INDEX ix_gate_decision_namespace_model_position ON gate_decision (namespace, model, position);
--
CREATE INDEX ix_gate_decision_namespace_position ON gate_decision (namespace, position);
--
CREATE INDEX ix_gate_decision_namespace_verdict_position ON gate_decision (namespace, verdict, position);
--
CREATE TABLE decision_input (
    decision VARCHAR(71) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    key_id VARCHAR(64) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_decision_input PRIMARY KEY (decision, namespace, record)
);
--
CREATE INDEX ix_decision_input_record_namespace ON decision_input (record, namespace);
--
CREATE TABLE review (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    action VARCHAR(16) NOT NULL,
    decision VARCHAR(71) NOT NULL,
    gate VARCHAR(128) NOT NULL,
    policy_version INTEGER NOT NULL,
    model VARCHAR(256) NOT NULL,
    artifact VARCHAR(71) NOT NULL,
    target VARCHAR(256) NOT NULL,
    owner VARCHAR(64),
    at VARCHAR(26) NOT NULL,
    expires_at VARCHAR(26),
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_review PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_review_artifact_namespace_position ON review (artifact, namespace, position);
--
CREATE INDEX ix_review_decision_namespace_position ON review (decision, namespace, position);
--
CREATE INDEX ix_review_namespace_action_position ON review (namespace, action, position);
--
CREATE INDEX ix_review_namespace_position ON review (namespace, position);
--
CREATE TABLE waiver (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    gate VARCHAR(128) NOT NULL,
    policy_version INTEGER NOT NULL,
    criterion VARCHAR(128) NOT NULL,
    model VARCHAR(256) NOT NULL,
    artifact VARCHAR(71) NOT NULL,
    target VARCHAR(256) NOT NULL,
    owner VARCHAR(64) NOT NULL,
    at VARCHAR(26) NOT NULL,
    expires_at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_waiver PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_waiver_artifact_namespace_position ON waiver (artifact, namespace, position);
--
CREATE INDEX ix_waiver_namespace_position ON waiver (namespace, position);
--
CREATE TABLE break_glass (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    model VARCHAR(256) NOT NULL,
    version VARCHAR(128),
    artifact VARCHAR(71) NOT NULL,
    target VARCHAR(256) NOT NULL,
    owner VARCHAR(64) NOT NULL,
    expires_at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_break_glass PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_break_glass_artifact_namespace_position ON break_glass (artifact, namespace, position);
--
CREATE TABLE release_target (
    namespace VARCHAR(256) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    model VARCHAR(256) NOT NULL,
    target VARCHAR(256) NOT NULL,
    how VARCHAR(16),
    version VARCHAR(128),
    artifact VARCHAR(71),
    decision VARCHAR(71),
    record VARCHAR(71),
    since VARCHAR(26),
    before_version VARCHAR(128),
    before_artifact VARCHAR(71),
    open_grant VARCHAR(71),
    open_until VARCHAR(26),
    demotion VARCHAR(71),
    demotion_until VARCHAR(26),
    CONSTRAINT pk_release_target PRIMARY KEY (namespace, registry_name, model, target)
);
--
CREATE TABLE promotion_grant (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    model VARCHAR(256) NOT NULL,
    target VARCHAR(256) NOT NULL,
    expires_at VARCHAR(26) NOT NULL,
    settled_by VARCHAR(71),
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_promotion_grant PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_promotion_grant_unsettled ON promotion_grant (namespace, position) WHERE settled_by IS NULL;
--
CREATE TABLE promotion (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    state VARCHAR(32) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    model VARCHAR(256) NOT NULL,
    target VARCHAR(256) NOT NULL,
    version VARCHAR(128),
    artifact VARCHAR(71),
    moved INTEGER NOT NULL,
    at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_promotion PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_promotion_artifact_namespace_position ON promotion (artifact, namespace, position);
--
CREATE INDEX ix_promotion_model_namespace_position ON promotion (model, namespace, position);
--
CREATE INDEX ix_promotion_moves ON promotion (model, namespace, registry_name, target, moved, position);
--
CREATE INDEX ix_promotion_namespace_position ON promotion (namespace, position);
--
CREATE INDEX ix_promotion_namespace_state_position ON promotion (namespace, state, position);
--
CREATE TABLE released_version (
    namespace VARCHAR(256) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    model VARCHAR(256) NOT NULL,
    version VARCHAR(128) NOT NULL,
    artifact VARCHAR(71) NOT NULL,
    run_id VARCHAR(256),
    source VARCHAR(2048),
    targets TEXT NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_released_version PRIMARY KEY (namespace, registry_name, model, version, artifact)
);
--
CREATE INDEX ix_released_version_namespace_position ON released_version (namespace, position);
--
CREATE TABLE reconciliation (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    report VARCHAR(71) NOT NULL,
    at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_reconciliation PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_reconciliation_namespace_registry_name_position ON reconciliation (namespace, registry_name, position);
--
CREATE TABLE reconciler_sign (
    namespace VARCHAR(256) NOT NULL,
    registry_name VARCHAR(256) NOT NULL,
    seen_at VARCHAR(26) NOT NULL,
    CONSTRAINT pk_reconciler_sign PRIMARY KEY (namespace, registry_name)
);
--
CREATE TABLE slo (
    namespace VARCHAR(256) NOT NULL,
    name VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    document_digest VARCHAR(71) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    team VARCHAR(256) NOT NULL,
    objective VARCHAR(256) NOT NULL,
    expected_until VARCHAR(26),
    first_at VARCHAR(26) NOT NULL,
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_slo PRIMARY KEY (namespace, name)
);
--
CREATE INDEX ix_slo_namespace_position ON slo (namespace, position);
--
CREATE TABLE slo_version (
    namespace VARCHAR(256) NOT NULL,
    name VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) NOT NULL,
    document_digest VARCHAR(71) NOT NULL,
    published_at VARCHAR(26) NOT NULL,
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    definition TEXT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_slo_version PRIMARY KEY (namespace, name, version)
);
--
CREATE INDEX ix_slo_version_namespace_published_at ON slo_version (namespace, published_at);
--
CREATE TABLE slo_window (
    namespace VARCHAR(256) NOT NULL,
    id VARCHAR(640) NOT NULL,
    slo VARCHAR(128) NOT NULL,
    version INTEGER NOT NULL,
    opens_at VARCHAR(26) NOT NULL,
    deadline_at VARCHAR(26) NOT NULL,
    due_at VARCHAR(26) NOT NULL,
    deadline_local VARCHAR(256) NOT NULL,
    day VARCHAR(10) NOT NULL,
    interval_start VARCHAR(26),
    interval_end VARCHAR(26),
    holidays VARCHAR(256),
    tzdata VARCHAR(256),
    run_id VARCHAR(36),
    about VARCHAR(71),
    backfilled INTEGER NOT NULL,
    status VARCHAR(16) NOT NULL,
    reason VARCHAR(16),
    predicted INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    good BIGINT NOT NULL,
    bad BIGINT NOT NULL,
    unsure BIGINT NOT NULL,
    look_at VARCHAR(26),
    expected VARCHAR(71) NOT NULL,
    expected_position BIGINT NOT NULL,
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_slo_window PRIMARY KEY (namespace, id)
);
--
CREATE INDEX ix_slo_window_about ON slo_window (about, namespace) WHERE about IS NOT NULL;
--
CREATE INDEX ix_slo_window_look_at ON slo_window (look_at) WHERE look_at IS NOT NULL;
--
CREATE INDEX ix_slo_window_missed ON slo_window (namespace, slo, deadline_at) WHERE status IN ('breached', 'unknown');
--
CREATE INDEX ix_slo_window_namespace_interval_start ON slo_window (namespace, interval_start);
--
CREATE INDEX ix_slo_window_namespace_slo_deadline_at ON slo_window (namespace, slo, deadline_at);
--
CREATE INDEX ix_slo_window_revised ON slo_window (namespace, slo, deadline_at) WHERE revision > 1;
--
CREATE INDEX ix_slo_window_run_id ON slo_window (run_id, namespace) WHERE run_id IS NOT NULL;
--
CREATE TABLE slo_window_revision (
    namespace VARCHAR(256) NOT NULL,
    window_id VARCHAR(640) NOT NULL,
    revision INTEGER NOT NULL,
    slo VARCHAR(128) NOT NULL,
    status VARCHAR(16) NOT NULL,
    predicted INTEGER NOT NULL,
    restated INTEGER NOT NULL,
    good BIGINT NOT NULL,
    bad BIGINT NOT NULL,
    unsure BIGINT NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    record VARCHAR(71) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_slo_window_revision PRIMARY KEY (namespace, window_id, revision)
);
--
CREATE INDEX ix_slo_window_revision_namespace_slo_position ON slo_window_revision (namespace, slo, position);
--
CREATE TABLE slo_month (
    namespace VARCHAR(256) NOT NULL,
    id VARCHAR(160) NOT NULL,
    slo VARCHAR(128) NOT NULL,
    month VARCHAR(7) NOT NULL,
    pending BIGINT NOT NULL,
    predicted BIGINT NOT NULL,
    met BIGINT NOT NULL,
    met_in_grace BIGINT NOT NULL,
    breached BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    excluded BIGINT NOT NULL,
    good BIGINT NOT NULL,
    bad BIGINT NOT NULL,
    unsure BIGINT NOT NULL,
    CONSTRAINT pk_slo_month PRIMARY KEY (namespace, id)
);
--
CREATE INDEX ix_slo_month_namespace_slo_month ON slo_month (namespace, slo, month);
--
CREATE TABLE slo_exclusion (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    slo VARCHAR(128) NOT NULL,
    starts_at VARCHAR(26),
    ends_at VARCHAR(26),
    windows TEXT,
    retroactive INTEGER NOT NULL,
    owner VARCHAR(64) NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_slo_exclusion PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_slo_exclusion_namespace_slo_position ON slo_exclusion (namespace, slo, position);
--
CREATE TABLE run_timing (
    run_id VARCHAR(36) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    job_namespace VARCHAR(256) NOT NULL,
    job_name VARCHAR(512) NOT NULL,
    team VARCHAR(256),
    priority VARCHAR(256),
    state VARCHAR(16) NOT NULL,
    queued_at VARCHAR(26),
    started_at VARCHAR(26),
    ended_at VARCHAR(26),
    interval_start VARCHAR(26),
    interval_end VARCHAR(26),
    continues VARCHAR(36),
    position BIGINT NOT NULL,
    CONSTRAINT pk_run_timing PRIMARY KEY (run_id, namespace)
);
--
CREATE INDEX ix_run_timing_continues ON run_timing (continues, namespace) WHERE continues IS NOT NULL;
--
CREATE INDEX ix_run_timing_interval ON run_timing (namespace, interval_end) WHERE interval_end IS NOT NULL;
--
CREATE INDEX ix_run_timing_queued ON run_timing (namespace, queued_at) WHERE queued_at IS NOT NULL;
--
CREATE TABLE run_end (
    run_id VARCHAR(36) NOT NULL,
    namespace VARCHAR(256) NOT NULL,
    attempt INTEGER NOT NULL,
    ended_at VARCHAR(26) NOT NULL,
    state VARCHAR(16) NOT NULL,
    record VARCHAR(71) NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_run_end PRIMARY KEY (run_id, namespace, attempt, ended_at, state)
);
--
CREATE TABLE snapshot_interval (
    namespace VARCHAR(256) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    dataset_namespace VARCHAR(256) NOT NULL,
    dataset_name VARCHAR(512) NOT NULL,
    interval_start VARCHAR(26) NOT NULL,
    interval_end VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_snapshot_interval PRIMARY KEY (namespace, digest)
);
--
CREATE INDEX ix_snapshot_interval_namespace_interval_end ON snapshot_interval (namespace, interval_end);
--
CREATE INDEX ix_snapshot_interval_position ON snapshot_interval (position);
--
CREATE TABLE evaluation_report (
    namespace VARCHAR(256) NOT NULL,
    record VARCHAR(71) NOT NULL,
    digest VARCHAR(71) NOT NULL,
    retain_until VARCHAR(26) NOT NULL,
    recorded_at VARCHAR(26) NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_evaluation_report PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_evaluation_report_namespace_retain_until ON evaluation_report (namespace, retain_until);
--
CREATE TABLE source_life (
    namespace VARCHAR(256) NOT NULL,
    source VARCHAR(256) NOT NULL,
    began_at VARCHAR(26) NOT NULL,
    last_seen_at VARCHAR(26) NOT NULL,
    alive_until VARCHAR(26) NOT NULL,
    interval_seconds INTEGER NOT NULL,
    CONSTRAINT pk_source_life PRIMARY KEY (namespace, source, began_at)
);
--
CREATE TABLE tick_lease (
    name VARCHAR(64) NOT NULL,
    holder VARCHAR(64) NOT NULL,
    expires_at VARCHAR(26) NOT NULL,
    cursor BIGINT NOT NULL,
    done_at VARCHAR(26),
    CONSTRAINT pk_tick_lease PRIMARY KEY (name)
);
--
CREATE TABLE work (
    namespace VARCHAR(256) NOT NULL,
    id VARCHAR(36) NOT NULL,
    kind VARCHAR(32) NOT NULL,
    state VARCHAR(16) NOT NULL,
    root VARCHAR(256) NOT NULL,
    request TEXT NOT NULL,
    content_digest VARCHAR(71) NOT NULL,
    idempotency_key VARCHAR(256),
    requested_by VARCHAR(64),
    created_at VARCHAR(26) NOT NULL,
    available_at VARCHAR(26) NOT NULL,
    attempt INTEGER NOT NULL,
    lease VARCHAR(71),
    lease_expires_at VARCHAR(26),
    worker VARCHAR(64),
    progress_done BIGINT,
    progress_total BIGINT,
    progress_text VARCHAR(256),
    reason TEXT,
    result_digest VARCHAR(71),
    record VARCHAR(71),
    finished_at VARCHAR(26),
    CONSTRAINT pk_work PRIMARY KEY (namespace, id),
    CONSTRAINT uq_work_namespace_idempotency_key UNIQUE (namespace, idempotency_key)
);
--
CREATE INDEX ix_work_namespace_kind_state_created_at_id ON work (namespace, kind, state, created_at, id);
--
CREATE INDEX ix_work_open ON work (namespace, created_at, id) WHERE state IN ('queued', 'running');
--
CREATE TABLE worker_root (
    namespace VARCHAR(256) NOT NULL,
    root VARCHAR(256) NOT NULL,
    seen_at VARCHAR(26) NOT NULL,
    CONSTRAINT pk_worker_root PRIMARY KEY (namespace, root)
);
--
CREATE TRIGGER record_no_update BEFORE UPDATE ON record
BEGIN
    SELECT RAISE(ABORT, 'record is append-only');
END;
--
CREATE TRIGGER record_no_delete BEFORE DELETE ON record
BEGIN
    SELECT RAISE(ABORT, 'record is append-only');
END;
--
CREATE TRIGGER record_no_replace BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE rowid = NEW.rowid OR position = NEW.position OR digest = NEW.digest OR (namespace = NEW.namespace AND idempotency_key = NEW.idempotency_key))
BEGIN
    SELECT RAISE(ABORT, 'record is append-only');
END;
--
CREATE TRIGGER tree_node_no_update BEFORE UPDATE ON tree_node
BEGIN
    SELECT RAISE(ABORT, 'tree_node is append-only');
END;
--
CREATE TRIGGER tree_node_no_delete BEFORE DELETE ON tree_node
BEGIN
    SELECT RAISE(ABORT, 'tree_node is append-only');
END;
--
CREATE TRIGGER tree_node_no_replace BEFORE INSERT ON tree_node
WHEN EXISTS (SELECT 1 FROM tree_node WHERE rowid = NEW.rowid OR level = NEW.level AND "index" = NEW."index")
BEGIN
    SELECT RAISE(ABORT, 'tree_node is append-only');
END;
--
CREATE TRIGGER tree_head_no_update BEFORE UPDATE ON tree_head
BEGIN
    SELECT RAISE(ABORT, 'tree_head is append-only');
END;
--
CREATE TRIGGER tree_head_no_delete BEFORE DELETE ON tree_head
BEGIN
    SELECT RAISE(ABORT, 'tree_head is append-only');
END;
--
CREATE TRIGGER tree_head_no_replace BEFORE INSERT ON tree_head
WHEN EXISTS (SELECT 1 FROM tree_head WHERE rowid = NEW.rowid OR id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'tree_head is append-only');
END;
