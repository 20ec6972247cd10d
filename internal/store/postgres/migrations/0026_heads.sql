-- Only what is ordered needs to be found by its resource. What was accepted before
-- this stands in the index whoever it is for, and so does what an older program
-- accepts meanwhile.
ALTER TABLE open_deliveries ADD COLUMN ordered boolean NOT NULL DEFAULT true;
DROP INDEX open_deliveries_heads;
CREATE INDEX open_deliveries_heads ON open_deliveries (subscription_id, resource_id, seq) WHERE ordered;

-- Where a subscription has become ordered, and what is open of it is not: the last
-- delivery that is. It is empty until those who saw the subscription as it was have ended.
ALTER TABLE subscriptions ADD COLUMN order_from text COLLATE "C";
