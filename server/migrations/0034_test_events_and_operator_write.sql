-- Sent with `POST /v1/events/test`. Their deliveries say so in a header.
alter table events add column is_test boolean not null default false;

-- An operator's key may also write for an account, if it has the scope for it.
alter table api_keys
  drop constraint api_keys_account,
  add constraint api_keys_of_operators check (
    case
      when account_id is null then scopes in ('{operator}', '{operator,operator_write}')
      else not scopes && '{operator,operator_write}'
    end
  );
