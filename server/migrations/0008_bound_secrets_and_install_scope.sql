-- stop-older-processes: they could not read what this release seals.
-- Sealed values are bound to the row they are in, and matching ids are sealed as well. What earlier releases stored (values that
-- are bound to nothing, matching ids in the clear) stays readable until `simplane-server reseal` has rewritten all of it.
create table sealing (
  is_only             boolean primary key default true check (is_only),
  -- From here on nothing is read in an earlier form. Set at once where there is nothing to rewrite.
  old_form_refused_at timestamptz,
  -- The last time that everything was found, or made, sealed with this key.
  resealed_at         timestamptz,
  resealed_key_id     text
);

insert into sealing (old_form_refused_at)
select case
  when exists (select from webhook_secrets)
    or exists (select from idempotency_keys where is_sealed)
    or exists (select from executions)
    or exists (select from esims) then null
  else now()
end;

-- Activation codes need a scope of their own. Keys that could read them until now keep that; new ones get it when it is asked for.
update api_keys
set scopes = array_append(scopes, 'install')
where 'read' = any(scopes) and not 'install' = any(scopes);
