-- What databases said was kept whole until now: an error of a refresh could have
-- megabytes, and each list of feeds read them.
UPDATE feeds SET last_error = jsonb_set(replace(last_error, '\u0000', '\ufffd')::jsonb, '{detail}',
    to_jsonb(left(replace(last_error, '\u0000', '\ufffd')::jsonb ->> 'detail', 2047) || '…'))::text
WHERE length(last_error) > 2048 AND length(replace(last_error, '\u0000', '\ufffd')::jsonb ->> 'detail') > 2048;
UPDATE refreshes SET error = jsonb_set(replace(error, '\u0000', '\ufffd')::jsonb, '{detail}',
    to_jsonb(left(replace(error, '\u0000', '\ufffd')::jsonb ->> 'detail', 2047) || '…'))::text
WHERE length(error) > 2048 AND length(replace(error, '\u0000', '\ufffd')::jsonb ->> 'detail') > 2048;
