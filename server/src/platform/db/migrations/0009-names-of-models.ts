import { sql, type Kysely } from 'kysely'

/** Mappings, collections, when a handle last changed, and what usage events tell of resolution. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await mappings(db)
  await collections(db)
  await sql`
    alter table public_name add column updated_at timestamptz not null default now()`.execute(db)
  // Why an attempt failed over, who was asked for, and who was not asked.
  await sql`
    alter table usage_event
      add column requested_model text,
      add column passed_over jsonb,
      add column reason text`.execute(db)
  await announce(db)
}

async function mappings(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table model_mapping (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      source_pattern text not null,
      target_model text not null,
      priority integer not null default 100 check (priority between 1 and 1000),
      enabled boolean not null default true,
      description text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint one_mapping_a_pattern unique (user_id, source_pattern)
    )`.execute(db)
}

async function collections(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table model_collection (
      id text primary key,
      scope text not null check (scope in ('individual', 'organization', 'system')),
      user_id text references users (id) on delete cascade,
      organization_id text references organization (id) on delete cascade,
      name text not null,
      display_name text,
      description text,
      routing_strategy text not null check (routing_strategy in (
        'priority', 'round_robin', 'least_used', 'random', 'lowest_cost', 'lowest_latency', 'weighted'
      )),
      enabled boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint has_its_owner check (
        (user_id is not null) = (scope = 'individual')
        and (organization_id is not null) = (scope = 'organization')
      )
    )`.execute(db)
  await sql`
    create unique index model_collection_name
    on model_collection (coalesce(user_id, organization_id, ''), name)`.execute(db)
  await sql`
    create table model_collection_member (
      collection_id text not null references model_collection (id) on delete cascade,
      model_id text not null,
      priority integer not null check (priority between 1 and 1000),
      weight integer not null default 1 check (weight between 1 and 1000),
      enabled boolean not null default true,
      position bigint generated always as identity,
      added_at timestamptz not null default now(),
      primary key (collection_id, model_id)
    )`.execute(db)
  await sql`
    insert into model_collection (id, scope, name, display_name, description, routing_strategy)
    values (
      'coll_00000000000000000000000000', 'system', 'auto-free', 'Free models',
      'One of the models that cost nothing. Without members it has all of them.', 'random'
    )`.execute(db)
}

/** What an account or an organization names is kept in memory, as its connections are. */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_mapping() returns trigger language plpgsql as $$
    begin
      perform pg_notify(
        'tollgate_owner', case tg_op when 'DELETE' then old.user_id else new.user_id end
      );
      return null;
    end $$`.execute(db)
  await sql`
    create function announce_collection() returns trigger language plpgsql as $$
    declare
      changed model_collection := case tg_op when 'DELETE' then old else new end;
    begin
      if changed.scope = 'system' then
        perform pg_notify('tollgate_catalog', '');
      else
        perform pg_notify('tollgate_owner', coalesce(changed.user_id, changed.organization_id));
      end if;
      return null;
    end $$`.execute(db)
  // A collection that is deleted, and its members with it, says so itself.
  await sql`
    create function announce_collection_member() returns trigger language plpgsql as $$
    declare
      changed model_collection_member := case tg_op when 'DELETE' then old else new end;
    begin
      perform case scope
        when 'system' then pg_notify('tollgate_catalog', '')
        else pg_notify('tollgate_owner', coalesce(user_id, organization_id))
      end
      from model_collection where id = changed.collection_id;
      return null;
    end $$`.execute(db)
  await sql`
    create function announce_public_name() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then perform pg_notify('tollgate_name', old.name); end if;
      if tg_op <> 'DELETE' then perform pg_notify('tollgate_name', new.name); end if;
      return null;
    end $$`.execute(db)
  const triggers = [
    ['model_mapping', 'announce_mapping'],
    ['model_collection', 'announce_collection'],
    ['model_collection_member', 'announce_collection_member'],
    ['public_name', 'announce_public_name'],
  ] as const
  for (const [table, procedure] of triggers) {
    await sql`
      create trigger ${sql.raw(table)}_changed after insert or update or delete
      on ${sql.table(table)} for each row execute function ${sql.raw(procedure)}()`.execute(db)
  }
}
