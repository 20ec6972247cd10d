-- Why a subscription is paused. For mail: when the recipient agreed to it, until when the
-- recipient can, and when the next request to confirm is due; NULL for none. Subscriptions of one
-- alert have the same alert_id.
ALTER TABLE subscriptions ADD COLUMN paused_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN consented_at INTEGER;
ALTER TABLE subscriptions ADD COLUMN confirm_by INTEGER;
ALTER TABLE subscriptions ADD COLUMN confirm_due_at INTEGER;
ALTER TABLE subscriptions ADD COLUMN alert_id TEXT NOT NULL DEFAULT '';
UPDATE subscriptions SET paused_reason = 'user' WHERE state = 'paused';
CREATE INDEX subscriptions_to_confirm ON subscriptions (confirm_due_at) WHERE confirm_due_at IS NOT NULL;

-- When messages were sent, for limits that replicas share: the times within the last period of each
-- subject. A row without a time in that period ends at ends_at.
CREATE TABLE send_windows (
    subject TEXT NOT NULL PRIMARY KEY,
    sent    TEXT NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX send_windows_end ON send_windows (ends_at);
