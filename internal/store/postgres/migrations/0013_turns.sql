-- Workspaces take turns with the deliveries that they were promised. turn is when
-- a workspace had its last one, by the order of topic_seq; that of its first
-- promise counts.
ALTER TABLE fanouts DROP COLUMN stepped_at;
ALTER TABLE fanouts ADD COLUMN turn bigint NOT NULL DEFAULT nextval('topic_seq');

CREATE INDEX fanouts_resource ON fanouts (workspace_id, resource_id);
CREATE INDEX former_topics_owner ON former_topics (subscription_id);
