-- What feeds are counted by. It has nothing else, so that to count a hundred thousand of
-- them reads few pages.
CREATE INDEX feeds_counted ON feeds (workspace_id, state);
