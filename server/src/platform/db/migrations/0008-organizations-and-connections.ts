import { sql, type Kysely } from 'kysely'

/** Organizations and their members, connections of customers, pools, and models known only from them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await organizations(db)
  await memberships(db)
  await names(db)
  await connections(db)
  await pools(db)
  await announce(db)
}

async function organizations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table organization (
      id text primary key,
      name text not null,
      description text,
      website text,
      provider_kind text check (
        provider_kind in ('cloud_provider', 'enterprise_it', 'research_institution', 'startup')
      ),
      is_public boolean not null default false,
      status text not null default 'active' check (status in ('active', 'suspended')),
      plan_id text not null default default_plan() references plan (id),
      member_limit integer check (member_limit > 0),
      allow_join_requests boolean not null default true,
      auto_approve_requests boolean not null default false,
      auto_approve_domains text[] not null default '{}',
      requests_per_minute integer not null default 60 check (requests_per_minute > 0),
      tokens_per_minute integer not null default 100000 check (tokens_per_minute > 0),
      max_concurrent_requests integer not null default 10 check (max_concurrent_requests > 0),
      monthly_spend_limit bigint check (monthly_spend_limit >= 0),
      default_member_spending_limit bigint check (default_member_spending_limit >= 0),
      billing_email text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index organization_plan on organization (plan_id)`.execute(db)
  // Its pool: an account like a user's, with its id.
  await sql`
    create function open_pool_of_credit() returns trigger language plpgsql as $$
    begin
      insert into credit_account (id, owner) values (new.id, 'organization:' || new.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger organization_has_account after insert on organization
    for each row execute function open_pool_of_credit()`.execute(db)
}

async function memberships(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table membership (
      organization_id text not null references organization (id) on delete cascade,
      user_id text not null references users (id) on delete cascade,
      role text not null check (role in ('owner', 'admin', 'developer', 'viewer', 'member')),
      status text not null check (status in ('pending', 'active', 'suspended')),
      is_primary boolean not null default false,
      department text,
      spending_limit bigint check (spending_limit >= 0),
      -- What came with a request to join.
      message text,
      joined_at timestamptz,
      created_at timestamptz not null default now(),
      primary key (organization_id, user_id),
      constraint owner_is_active check (role <> 'owner' or status = 'active')
    )`.execute(db)
  await sql`
    create unique index membership_owner on membership (organization_id) where role = 'owner'
  `.execute(db)
  await sql`
    create unique index membership_primary on membership (user_id) where is_primary
  `.execute(db)
  await sql`create index membership_user on membership (user_id)`.execute(db)
}

/** Handles of accounts and slugs of organizations: `<name>/<provider>/<model>` is one of them. */
async function names(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table public_name (
      name text primary key,
      user_id text unique references users (id) on delete cascade,
      organization_id text unique references organization (id) on delete cascade,
      constraint of_one_owner check (num_nonnulls(user_id, organization_id) = 1)
    )`.execute(db)
}

async function connections(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table connection
      add column user_id text references users (id) on delete cascade,
      add column organization_id text references organization (id) on delete cascade,
      add column billing_mode text check (billing_mode in ('org_pays', 'member_pays')),
      add column gateway_type smallint not null default 2 check (gateway_type in (2, 3)),
      -- Which key wraps the data key of the secret; null for secrets from before there were any.
      add column secret_key_id text,
      add column model_count integer not null default 0,
      add constraint has_its_owner check (
        case scope
          when 'platform' then num_nonnulls(user_id, organization_id, billing_mode) = 0
          when 'individual' then user_id is not null
            and organization_id is null and billing_mode is null
          else user_id is null and num_nonnulls(organization_id, billing_mode) = 2
        end
      )`.execute(db)
  await sql`update connection set model_count = cardinality(models)`.execute(db)
  await sql`alter table connection drop column models`.execute(db)
  await sql`create index connection_user on connection (user_id, id) where user_id is not null
  `.execute(db)
  await sql`
    create index connection_organization on connection (organization_id, id)
    where organization_id is not null`.execute(db)
  await sql`
    create unique index connection_default
    on connection ((coalesce(user_id, organization_id)), provider)
    where is_default and scope <> 'platform'`.execute(db)
  // Models that a test found and that the catalogue had not.
  await sql`
    create table connection_model (
      connection_id text not null references connection (id) on delete cascade,
      name text not null,
      found_at timestamptz not null default now(),
      primary key (connection_id, name)
    )`.execute(db)
}

async function pools(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table connection_pool (
      id text primary key,
      name text not null,
      provider text not null,
      scope text not null check (scope in ('individual', 'organization')),
      user_id text references users (id) on delete cascade,
      organization_id text references organization (id) on delete cascade,
      billing_mode text check (billing_mode in ('org_pays', 'member_pays')),
      strategy text not null check (strategy in ('priority', 'round_robin', 'least_used', 'random')),
      enabled boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint has_its_owner check (
        case scope
          when 'individual' then user_id is not null
            and organization_id is null and billing_mode is null
          else user_id is null and num_nonnulls(organization_id, billing_mode) = 2
        end
      )
    )`.execute(db)
  await sql`
    create index connection_pool_user on connection_pool (user_id, id) where user_id is not null
  `.execute(db)
  await sql`
    create index connection_pool_organization on connection_pool (organization_id, id)
    where organization_id is not null`.execute(db)
  await sql`
    create table connection_pool_member (
      pool_id text not null references connection_pool (id) on delete cascade,
      connection_id text not null references connection (id) on delete cascade,
      position integer not null,
      primary key (pool_id, connection_id)
    )`.execute(db)
  await sql`
    create index connection_pool_member_connection on connection_pool_member (connection_id)
  `.execute(db)
}

/**
 * What one account or organization brings to routing is kept in memory by its id; the catalogue,
 * which all share, is not read again for it.
 */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger connection_changed on connection`.execute(db)
  await sql`
    create function announce_connection() returns trigger language plpgsql as $$
    declare
      changed connection := case tg_op when 'DELETE' then old else new end;
    begin
      if changed.scope = 'platform' then
        perform pg_notify('tollgate_catalog', '');
      else
        perform pg_notify('tollgate_owner', coalesce(changed.user_id, changed.organization_id));
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger connection_changed after insert or update or delete on connection
    for each row execute function announce_connection()`.execute(db)
  await sql`
    create function announce_pool() returns trigger language plpgsql as $$
    declare
      changed connection_pool := case tg_op when 'DELETE' then old else new end;
    begin
      perform pg_notify('tollgate_owner', coalesce(changed.user_id, changed.organization_id));
      return null;
    end $$`.execute(db)
  await sql`
    create trigger connection_pool_changed after insert or update or delete on connection_pool
    for each row execute function announce_pool()`.execute(db)
  await sql`
    create function announce_membership() returns trigger language plpgsql as $$
    begin
      perform pg_notify(
        'tollgate_owner', case tg_op when 'DELETE' then old.user_id else new.user_id end
      );
      return null;
    end $$`.execute(db)
  await sql`
    create trigger membership_changed after insert or update or delete on membership
    for each row execute function announce_membership()`.execute(db)
  await sql`
    create function announce_organization() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_owner', old.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger organization_changed after delete or update of status, is_public
    on organization for each row execute function announce_organization()`.execute(db)
}
