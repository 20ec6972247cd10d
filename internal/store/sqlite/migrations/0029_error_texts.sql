-- What databases said was kept whole until now: an error of a refresh could have
-- megabytes, and each list of feeds read them.
UPDATE feeds SET last_error = json_set(last_error, '$.detail', substr(json_extract(last_error, '$.detail'), 1, 2047) || '…')
WHERE length(last_error) > 2048 AND length(json_extract(last_error, '$.detail')) > 2048;
UPDATE refreshes SET error = json_set(error, '$.detail', substr(json_extract(error, '$.detail'), 1, 2047) || '…')
WHERE length(error) > 2048 AND length(json_extract(error, '$.detail')) > 2048;
