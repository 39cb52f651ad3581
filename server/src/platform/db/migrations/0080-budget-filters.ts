import { sql, type Kysely } from 'kysely'

/**
 * Budgets of some models, providers or tags, and in tokens. Their amount is in columns of their own, so that a node of the
 * version before, which would count all requests in them, applies none of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table budget
      add column unit text check (unit in ('usd', 'requests', 'tokens')),
      add column amount bigint check (amount >= 0),
      add column models text[],
      add column providers text[],
      add column tags text[],
      drop constraint budget_check,
      add constraint budget_terms_check check (
        num_nonnulls(spend, requests, amount) = 1 and (unit is null) = (amount is null)
      )`.execute(db)
  await sql`
    alter table limit_share
      add column tokens bigint not null default 0 check (tokens >= 0),
      add column lacking_tokens bigint not null default 0 check (lacking_tokens >= 0)`.execute(db)
  await sql`alter table usage_event add column budget_tags text`.execute(db)
  // Usage by the tags of its requests that budgets of their account count; as exact as usage_sum.
  await sql`
    create table usage_tag_sum (
      grain text not null check (grain in ('minute', 'hour', 'day')),
      starts_at timestamptz not null,
      account_id text not null,
      user_id text not null,
      key_id text not null,
      model text not null,
      tags text[] not null,
      requests bigint not null,
      tokens bigint not null,
      cost bigint not null,
      primary key (user_id, grain, starts_at, key_id, model, account_id, tags)
    )`.execute(db)
  await sql`create index usage_tag_sum_time on usage_tag_sum (grain, starts_at)`.execute(db)
}
