import { sql, type Kysely } from 'kysely'

/**
 * SCIM directories: what an identity provider provisions for the installation or for an organization, with the hash of its
 * token; its users and groups, and which groups make members of which organizations.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table scim_directory (
      id text primary key,
      organization_id text references organization on delete cascade,
      name text not null,
      -- The domains of the addresses that it may use: those that an operator has listed.
      domains text[] not null default '{}',
      token_hash text not null unique,
      token_created_at timestamptz not null default now(),
      last_used_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index scim_directory_organization on scim_directory (organization_id)`.execute(
    db,
  )
  await mappings(db)
  await users(db)
  await groups(db)
  // Only memberships that a directory has made are changed or ended by it.
  await sql`
    alter table membership
    add column scim_directory_id text references scim_directory on delete set null`.execute(db)
  await sql`
    create index membership_scim_directory on membership (scim_directory_id)
    where scim_directory_id is not null`.execute(db)
}

async function mappings(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table scim_group_mapping (
      directory_id text not null references scim_directory on delete cascade,
      group_name text not null,
      organization_id text not null references organization on delete cascade,
      role text not null check (role in ('admin', 'developer', 'viewer', 'member'))
    )`.execute(db)
  await sql`
    create unique index scim_group_mapping_name
    on scim_group_mapping (directory_id, lower(group_name), organization_id)`.execute(db)
  await sql`
    create index scim_group_mapping_organization on scim_group_mapping (organization_id)`.execute(
    db,
  )
}

/** An account belongs to one directory at most. */
async function users(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table scim_user (
      user_id text primary key references users on delete cascade,
      directory_id text not null references scim_directory on delete cascade,
      user_name text not null,
      external_id text,
      attributes jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create unique index scim_user_name on scim_user (directory_id, lower(user_name))`.execute(db)
  await sql`create index scim_user_external on scim_user (directory_id, external_id)`.execute(db)
}

async function groups(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table scim_group (
      id text primary key,
      directory_id text not null references scim_directory on delete cascade,
      display_name text not null,
      external_id text,
      -- Counts the changes, also those of its members.
      version integer not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create unique index scim_group_name on scim_group (directory_id, lower(display_name))`.execute(
    db,
  )
  await sql`
    create table scim_group_member (
      group_id text not null references scim_group on delete cascade,
      user_id text not null references scim_user on delete cascade references users on delete cascade,
      primary key (group_id, user_id)
    )`.execute(db)
  await sql`create index scim_group_member_user on scim_group_member (user_id)`.execute(db)
}
