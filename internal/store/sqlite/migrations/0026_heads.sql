-- Nothing: deliveries of an ordered subscription, and only those, stand in an
-- index by resource here already.
SELECT 1;
