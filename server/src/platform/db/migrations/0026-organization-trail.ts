import { sql, type Kysely } from 'kysely'

/** The audit log of organizations: each change and its actor. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table organization_trail (
      id text primary key,
      created_at timestamptz not null default clock_timestamp(),
      -- Organizations and accounts may go, what they did stays: nothing here refers to a row.
      organization_id text not null,
      actor text not null,
      actor_email text,
      key_id text,
      action text not null,
      object_id text not null,
      object_name text,
      before jsonb,
      after jsonb,
      request_id text,
      client_address text
    )`.execute(db)
  for (const columns of [
    'organization_id, id desc',
    'organization_id, actor, id desc',
    'organization_id, action, id desc',
    'organization_id, object_id, id desc',
    'organization_id, created_at',
    // For deleting old rows, and for erased accounts.
    'created_at',
    'actor, id',
    'object_id, id',
    'object_name',
  ]) {
    const name = columns.replaceAll(/\W+/g, '_')
    await sql`
      create index ${sql.ref(`organization_trail_${name}`)} on organization_trail (${sql.raw(columns)})
    `.execute(db)
  }
  await guard(db)
}

/** Allows deletes of old rows only, and in younger rows only the removal of an erased account's names and addresses. */
async function guard(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function keep_organization_trail() returns trigger language plpgsql as $$
    declare
      personal constant text[] := array['actor_email', 'object_name', 'client_address'];
      nobody constant text := '%@erased.invalid';
    begin
      if tg_op = 'DELETE' then
        if old.created_at < now() - interval '25 months' then return old; end if;
      elsif to_jsonb(new) - personal = to_jsonb(old) - personal
        and (new.actor_email is not distinct from old.actor_email or new.actor_email like nobody)
        and (new.object_name is not distinct from old.object_name or new.object_name like nobody)
        and (new.client_address is not distinct from old.client_address or new.client_address is null)
      then
        return new;
      end if;
      raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'insufficient_privilege';
    end $$`.execute(db)
  await sql`
    create trigger append_only before update or delete on organization_trail
    for each row execute function keep_organization_trail()`.execute(db)
  await sql`
    create trigger whole before truncate on organization_trail
    for each statement execute function refuse_change()`.execute(db)
}
