CREATE TABLE record (
    position BIGINT NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    kind VARCHAR(64) COLLATE "C" NOT NULL,
    subject VARCHAR(800) COLLATE "C" NOT NULL,
    idempotency_key VARCHAR(700) COLLATE "C" NOT NULL,
    content_digest VARCHAR(71) COLLATE "C" NOT NULL,
    level VARCHAR(16) COLLATE "C" NOT NULL,
    recorded_at TIMESTAMP WITH TIME ZONE NOT NULL,
    payload BYTEA NOT NULL,
    leaf_hash BYTEA NOT NULL,
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
    index BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    CONSTRAINT pk_tree_node PRIMARY KEY (level, index),
    CONSTRAINT ck_tree_node_place CHECK (level > 0 AND "index" >= 0),
    CONSTRAINT ck_tree_node_hash CHECK (length(hash) = 32)
);
--
CREATE TABLE tree_head (
    id BIGINT NOT NULL,
    origin VARCHAR(256) COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    frontier BYTEA NOT NULL,
    note TEXT NOT NULL,
    committed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_tree_head PRIMARY KEY (id),
    CONSTRAINT ck_tree_head_size CHECK (id >= 0 AND size >= 0)
);
--
CREATE TABLE disclosure (
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    salt BYTEA NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_disclosure PRIMARY KEY (digest)
);
--
CREATE TABLE api_key (
    key_id VARCHAR(32) COLLATE "C" NOT NULL,
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    roles VARCHAR(256) COLLATE "C" NOT NULL,
    groups TEXT NOT NULL,
    level VARCHAR(16) COLLATE "C" NOT NULL,
    owner VARCHAR(64) COLLATE "C",
    who VARCHAR(71) COLLATE "C",
    secret_hmac BYTEA NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_api_key PRIMARY KEY (key_id)
);
--
CREATE INDEX ix_api_key_namespace_created_at_key_id ON api_key (namespace, created_at, key_id);
--
CREATE TABLE ended_session (
    session_id VARCHAR(32) COLLATE "C" NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_ended_session PRIMARY KEY (session_id)
);
--
CREATE TABLE run (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    run_id VARCHAR(36) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    job_namespace VARCHAR(256) COLLATE "C" NOT NULL,
    job_name VARCHAR(512) COLLATE "C" NOT NULL,
    team VARCHAR(256) COLLATE "C",
    owner VARCHAR(64) COLLATE "C",
    state VARCHAR(16) COLLATE "C" NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    last_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
    heartbeat_seconds INTEGER,
    last_step BIGINT,
    recipe_digest VARCHAR(71) COLLATE "C",
    family_digest VARCHAR(71) COLLATE "C",
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
    run_id VARCHAR(36) COLLATE "C" NOT NULL,
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    direction VARCHAR(3) COLLATE "C" NOT NULL,
    kind VARCHAR(16) COLLATE "C" NOT NULL,
    role VARCHAR(256) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_run_link PRIMARY KEY (run_id, namespace, direction, kind, role, digest)
);
--
CREATE INDEX ix_run_link_digest_namespace_direction ON run_link (digest, namespace, direction);
--
CREATE TABLE ingredient (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    kind VARCHAR(16) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_ingredient PRIMARY KEY (namespace, digest)
);
--
CREATE TABLE snapshot (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    dataset_namespace VARCHAR(256) COLLATE "C" NOT NULL,
    dataset_name VARCHAR(512) COLLATE "C" NOT NULL,
    grade VARCHAR(16) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_snapshot PRIMARY KEY (namespace, digest)
);
--
CREATE INDEX ix_snapshot_namespace_dataset_namespace_dataset_name_position ON snapshot (namespace, dataset_namespace, dataset_name, position);
--
CREATE TABLE checkpoint (
    run_id VARCHAR(36) COLLATE "C" NOT NULL,
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    step BIGINT NOT NULL,
    trained_until TIMESTAMP WITH TIME ZONE NOT NULL,
    level VARCHAR(16) COLLATE "C" NOT NULL,
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
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    record VARCHAR(71) COLLATE "C" NOT NULL,
    checkpoint VARCHAR(71) COLLATE "C" NOT NULL,
    level VARCHAR(16) COLLATE "C" NOT NULL,
    outcome VARCHAR(8) COLLATE "C" NOT NULL,
    checked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    evidence_level VARCHAR(16) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_checkpoint_verification PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_checkpoint_verification_checkpoint_namespace ON checkpoint_verification (checkpoint, namespace);
--
CREATE TABLE artifact (
    run_id VARCHAR(36) COLLATE "C" NOT NULL,
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    role VARCHAR(256) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_artifact PRIMARY KEY (run_id, namespace, digest, role)
);
--
CREATE INDEX ix_artifact_digest_namespace ON artifact (digest, namespace);
--
CREATE TABLE evaluation (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    record VARCHAR(71) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    subject VARCHAR(71) COLLATE "C",
    run_id VARCHAR(36) COLLATE "C",
    evidence_level VARCHAR(16) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_evaluation PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_evaluation_run_id_namespace_position ON evaluation (run_id, namespace, position);
--
CREATE INDEX ix_evaluation_subject_namespace_position ON evaluation (subject, namespace, position);
--
CREATE TABLE model_version (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    registry_name VARCHAR(256) COLLATE "C" NOT NULL,
    model VARCHAR(256) COLLATE "C" NOT NULL,
    version VARCHAR(128) COLLATE "C" NOT NULL,
    artifact VARCHAR(71) COLLATE "C" NOT NULL,
    run_id VARCHAR(36) COLLATE "C" NOT NULL,
    record VARCHAR(71) COLLATE "C" NOT NULL,
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
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    registry_name VARCHAR(256) COLLATE "C" NOT NULL,
    model VARCHAR(256) COLLATE "C" NOT NULL,
    version VARCHAR(128) COLLATE "C" NOT NULL,
    revision INTEGER NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_lineage_manifest PRIMARY KEY (namespace, registry_name, model, version, revision)
);
--
CREATE INDEX ix_lineage_manifest_digest_namespace ON lineage_manifest (digest, namespace);
--
CREATE TABLE revocation (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    record VARCHAR(71) COLLATE "C" NOT NULL,
    revoked VARCHAR(71) COLLATE "C" NOT NULL,
    effect VARCHAR(16) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_revocation PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_revocation_revoked ON revocation (revoked);
--
CREATE TABLE run_progress (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    run_id VARCHAR(36) COLLATE "C" NOT NULL,
    process VARCHAR(256) COLLATE "C" NOT NULL,
    step BIGINT,
    phase VARCHAR(256) COLLATE "C",
    received_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_run_progress PRIMARY KEY (namespace, run_id, process)
);
--
CREATE TABLE contract (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    name VARCHAR(128) COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    suite_digest VARCHAR(71) COLLATE "C" NOT NULL,
    baseline VARCHAR(71) COLLATE "C",
    objects TEXT NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT pk_contract PRIMARY KEY (namespace, name)
);
--
CREATE INDEX ix_contract_namespace_position ON contract (namespace, position);
--
CREATE TABLE contract_version (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    name VARCHAR(128) COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    suite_digest VARCHAR(71) COLLATE "C" NOT NULL,
    baseline VARCHAR(71) COLLATE "C",
    record VARCHAR(71) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_contract_version PRIMARY KEY (namespace, name, version)
);
--
CREATE TABLE baseline (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    digest VARCHAR(71) COLLATE "C" NOT NULL,
    manifest VARCHAR(71) COLLATE "C" NOT NULL,
    owner VARCHAR(256) COLLATE "C",
    record VARCHAR(71) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    content TEXT NOT NULL,
    CONSTRAINT pk_baseline PRIMARY KEY (namespace, digest)
);
--
CREATE INDEX ix_baseline_namespace_position ON baseline (namespace, position);
--
CREATE TABLE baseline_approval (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    record VARCHAR(71) COLLATE "C" NOT NULL,
    baseline VARCHAR(71) COLLATE "C" NOT NULL,
    owner VARCHAR(64) COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_baseline_approval PRIMARY KEY (namespace, record)
);
--
CREATE INDEX ix_baseline_approval_baseline_namespace_position ON baseline_approval (baseline, namespace, position);
--
CREATE TABLE contract_check (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    record VARCHAR(71) COLLATE "C" NOT NULL,
    contract VARCHAR(128) COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    object VARCHAR(256) COLLATE "C" NOT NULL,
    manifest VARCHAR(71) COLLATE "C" NOT NULL,
    transformation VARCHAR(71) COLLATE "C",
    run_id VARCHAR(36) COLLATE "C",
    outcome VARCHAR(16) COLLATE "C" NOT NULL,
    evidence_level VARCHAR(16) COLLATE "C" NOT NULL,
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
CREATE TABLE work (
    namespace VARCHAR(256) COLLATE "C" NOT NULL,
    id VARCHAR(36) COLLATE "C" NOT NULL,
    kind VARCHAR(32) COLLATE "C" NOT NULL,
    state VARCHAR(16) COLLATE "C" NOT NULL,
    root VARCHAR(256) COLLATE "C" NOT NULL,
    request TEXT NOT NULL,
    content_digest VARCHAR(71) COLLATE "C" NOT NULL,
    idempotency_key VARCHAR(256) COLLATE "C",
    requested_by VARCHAR(64) COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    available_at TIMESTAMP WITH TIME ZONE NOT NULL,
    attempt INTEGER NOT NULL,
    lease VARCHAR(71) COLLATE "C",
    lease_expires_at TIMESTAMP WITH TIME ZONE,
    worker VARCHAR(64) COLLATE "C",
    progress_done BIGINT,
    progress_total BIGINT,
    progress_text VARCHAR(256) COLLATE "C",
    reason TEXT,
    result_digest VARCHAR(71) COLLATE "C",
    record VARCHAR(71) COLLATE "C",
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_work PRIMARY KEY (namespace, id),
    CONSTRAINT uq_work_namespace_idempotency_key UNIQUE (namespace, idempotency_key)
);
--
CREATE INDEX ix_work_namespace_kind_state_created_at_id ON work (namespace, kind, state, created_at, id);
--
CREATE INDEX ix_work_open ON work (namespace, created_at, id) WHERE state IN ('queued', 'running');
--
CREATE FUNCTION shipworthy_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
--
CREATE TRIGGER record_no_change BEFORE UPDATE OR DELETE ON record
    FOR EACH ROW EXECUTE FUNCTION shipworthy_append_only();
--
CREATE TRIGGER record_no_truncate BEFORE TRUNCATE ON record
    FOR EACH STATEMENT EXECUTE FUNCTION shipworthy_append_only();
--
ALTER TABLE record ENABLE ALWAYS TRIGGER record_no_change;
--
ALTER TABLE record ENABLE ALWAYS TRIGGER record_no_truncate;
--
CREATE TRIGGER tree_node_no_change BEFORE UPDATE OR DELETE ON tree_node
    FOR EACH ROW EXECUTE FUNCTION shipworthy_append_only();
--
CREATE TRIGGER tree_node_no_truncate BEFORE TRUNCATE ON tree_node
    FOR EACH STATEMENT EXECUTE FUNCTION shipworthy_append_only();
--
ALTER TABLE tree_node ENABLE ALWAYS TRIGGER tree_node_no_change;
--
ALTER TABLE tree_node ENABLE ALWAYS TRIGGER tree_node_no_truncate;
--
CREATE TRIGGER tree_head_no_change BEFORE UPDATE OR DELETE ON tree_head
    FOR EACH ROW EXECUTE FUNCTION shipworthy_append_only();
--
CREATE TRIGGER tree_head_no_truncate BEFORE TRUNCATE ON tree_head
    FOR EACH STATEMENT EXECUTE FUNCTION shipworthy_append_only();
--
ALTER TABLE tree_head ENABLE ALWAYS TRIGGER tree_head_no_change;
--
ALTER TABLE tree_head ENABLE ALWAYS TRIGGER tree_head_no_truncate;
