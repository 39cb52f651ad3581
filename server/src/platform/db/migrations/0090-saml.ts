import { sql, type Kysely } from 'kysely'

/**
 * Sign-ins by SAML that began, until they end or expire, with the identity that the provider has proven meanwhile; and
 * the assertions that were accepted, so that none is a second time on any node.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table saml_request (
      id text primary key,
      verifier_hash text not null,
      code_hash text unique,
      identity jsonb,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index saml_request_expiry on saml_request (expires_at)`.execute(db)
  await sql`
    create table saml_assertion (
      id_hash text primary key,
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index saml_assertion_expiry on saml_assertion (expires_at)`.execute(db)
}
