import { sql, type Kysely } from 'kysely'

/** Self-hosted gateways, and the connections that are served by them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table gateway (
      id text primary key,
      user_id text references users (id) on delete cascade,
      organization_id text references organization (id) on delete cascade,
      name text not null,
      is_public boolean not null default false,
      token_hash bytea not null unique,
      status text not null default 'starting'
        check (status in ('starting', 'online', 'offline', 'error')),
      -- What it last said of itself.
      version text,
      providers jsonb not null default '[]',
      models jsonb not null default '[]',
      tools jsonb not null default '[]',
      -- When its first hello made connections.
      welcomed_at timestamptz,
      -- Where its socket is, and which one that is; null for none.
      node text,
      socket text,
      last_heartbeat_at timestamptz,
      created_at timestamptz not null default now(),
      constraint of_one_owner check (num_nonnulls(user_id, organization_id) = 1),
      constraint public_by_organization check (organization_id is not null or not is_public)
    )`.execute(db)
  await sql`create index gateway_user on gateway (user_id, id) where user_id is not null
  `.execute(db)
  await sql`
    create index gateway_organization on gateway (organization_id, id)
    where organization_id is not null`.execute(db)
  await sql`
    alter table connection
      add column gateway_id text references gateway (id) on delete set null,
      add constraint by_a_gateway check (gateway_id is null or gateway_type = 3)`.execute(db)
  await sql`
    create index connection_gateway on connection (gateway_id) where gateway_id is not null
  `.execute(db)
  await announce(db)
}

/** Notifies the node that holds a gateway's socket when the gateway was deleted or got another socket. */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_gateway() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        perform pg_notify('tollgate_gateway', old.id);
      elsif new.socket is not null and new.socket is distinct from old.socket then
        perform pg_notify('tollgate_gateway', new.id || ' ' || new.socket);
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger gateway_changed after delete or update of socket on gateway
    for each row execute function announce_gateway()`.execute(db)
}
