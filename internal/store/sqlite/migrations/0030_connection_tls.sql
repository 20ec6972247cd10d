-- Connections keep the protection that they had where they did not specify one: new ones to
-- hosts other than loopback verify the server.
UPDATE connections SET config = CAST(json_set(CAST(config AS TEXT), '$.sslmode', 'prefer') AS BLOB)
WHERE connector = 'postgres' AND json_extract(CAST(config AS TEXT), '$.sslmode') IS NULL;
UPDATE connections SET config = CAST(json_set(CAST(config AS TEXT), '$.tls', 'off') AS BLOB)
WHERE connector = 'mysql' AND json_extract(CAST(config AS TEXT), '$.tls') IS NULL;
