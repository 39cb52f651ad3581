import { sql, type Kysely } from 'kysely'

/** Destinations of audit logs with what waits for them, the retention of an organization's audit log, and legal holds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await destinations(db)
  await outbox(db)
  await holds(db)
  await retention(db)
}

async function destinations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_destination (
      id text primary key,
      -- Null for the installation, which takes all entries.
      organization_id text references organization on delete cascade,
      name text not null,
      kind text not null check (kind in ('webhook', 'syslog')),
      shown_url text not null,
      enabled boolean not null,
      secret bytea not null,
      secret_key_id text not null,
      -- Counts the runs that took it: the record of an earlier run is void.
      runs bigint not null default 0,
      failures integer not null default 0,
      next_attempt_at timestamptz not null default now(),
      leased_until timestamptz,
      delivered bigint not null default 0,
      last_delivered_at timestamptz,
      failing_since timestamptz,
      last_error text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index audit_destination_organization on audit_destination (organization_id)`.execute(db)
}

/** An entry is queued in the transaction that writes it. Without a reference, so that a deletion never fails a change. */
async function outbox(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_outbox (
      destination_id text not null,
      -- Ascends with every transaction that began after another had ended.
      position bigint generated always as identity,
      entry_id text not null,
      queued_at timestamptz not null default clock_timestamp(),
      primary key (destination_id, position)
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`.execute(db)
  await sql`
    create function queue_audit_entry() returns trigger language plpgsql as $$
    begin
      insert into audit_outbox (destination_id, entry_id)
        select id, new.id from audit_destination
        where organization_id is null
          or tg_table_name = 'organization_trail' and organization_id = to_jsonb(new) ->> 'organization_id'
        order by audit_destination.id;
      return null;
    end $$`.execute(db)
  for (const table of ['audit_trail', 'organization_trail']) {
    await sql`
      create trigger queued after insert on ${sql.table(table)}
      for each row execute function queue_audit_entry()`.execute(db)
  }
}

async function holds(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table legal_hold (
      id text primary key,
      -- An account or an organization, which may be gone: nothing here refers to a row.
      subject_id text not null,
      reason text not null,
      -- Null for the operator key.
      created_by text,
      created_at timestamptz not null default now(),
      ended_by text,
      ended_at timestamptz
    )`.execute(db)
  await sql`
    create index legal_hold_subject on legal_hold (subject_id) where ended_at is null`.execute(db)
}

/**
 * Entries may be deleted once the retention of their organization has passed, and not while a legal hold keeps them.
 * Nodes of the version before delete after 25 months: they skip what stays longer.
 */
async function retention(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table organization add column audit_retention_months integer
    check (audit_retention_months between 3 and 120)`.execute(db)
  await sql`
    create function audit_retention(organization text) returns interval language sql stable as $$
      select make_interval(months => coalesce(
        (select audit_retention_months from organization where id = audit_retention.organization),
        -- The default of auditRetentionMonths in settings.ts.
        (select case jsonb_typeof(settings -> 'auditRetentionMonths')
          when 'number' then (settings ->> 'auditRetentionMonths')::numeric::integer
        end from config),
        25
      ))
    $$`.execute(db)
  await sql`
    create or replace function keep_organization_trail() returns trigger language plpgsql as $$
    declare
      personal constant text[] := array['actor_email', 'object_name', 'client_address'];
      nobody constant text := '%@erased.invalid';
      is_due boolean;
    begin
      if tg_op = 'DELETE' then
        is_due := old.created_at < now() - audit_retention(old.organization_id)
          and not exists (
            select from legal_hold where ended_at is null
              and subject_id in (old.organization_id, old.actor, old.object_id)
          );
        if is_due then return old; end if;
        if old.created_at < now() - interval '25 months' then return null; end if;
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
}
