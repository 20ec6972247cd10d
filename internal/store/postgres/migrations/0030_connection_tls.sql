-- Connections keep the protection that they had where they did not specify one: new ones to
-- hosts other than loopback verify the server.
UPDATE connections SET config = convert_to(rtrim(convert_from(config, 'UTF8'), '}') || ',"sslmode":"prefer"}', 'UTF8')
WHERE connector = 'postgres' AND CAST(convert_from(config, 'UTF8') AS json) ->> 'sslmode' IS NULL;
UPDATE connections SET config = convert_to(rtrim(convert_from(config, 'UTF8'), '}') || ',"tls":"off"}', 'UTF8')
WHERE connector = 'mysql' AND CAST(convert_from(config, 'UTF8') AS json) ->> 'tls' IS NULL;
