-- The words of a served score, for the search of the score log. A text search vector holds at most 1 MB, and words are at
-- most as long as the text: 100,000 characters always stay below that.

CREATE FUNCTION served_words(served jsonb) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT to_tsvector('simple', left(concat_ws(' ', served->>0, string_agg(step->>0, ' ' ORDER BY place)), 100000))
    FROM jsonb_array_elements(served->1) WITH ORDINALITY AS steps (step, place)
$$;
