import { sql, type Kysely } from 'kysely'

/** Tags of keys and requests, and sums of the requests that have any, by each set of tags. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table request_log add column tags text[]`.execute(db)
  await sql`alter table api_key add column tags text[]`.execute(db)
  await sql`
    create trigger api_key_tags_changed after update of tags
    on api_key for each row execute function announce_key()`.execute(db)
  // The columns of request_sum that usage is read from. Requests without tags are in that table alone.
  await sql`
    create table request_tag_sum (
      grain text not null check (grain in ('hour', 'day')),
      starts_at timestamptz not null,
      user_id text not null,
      key_id text not null,
      model text not null,
      tags text[] not null,
      requests bigint not null,
      successes bigint not null,
      failures bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      latency_ms bigint not null,
      cost bigint not null,
      own_cost bigint not null,
      primary key (grain, user_id, starts_at, key_id, model, tags)
    )`.execute(db)
  await sql`create index request_tag_sum_time on request_tag_sum (grain, starts_at)`.execute(db)
  // The sets of tags that have sums of their own on a day in UTC: their number is bounded.
  await sql`
    create table request_tag_set (
      user_id text not null,
      day date not null,
      tags text[] not null,
      primary key (user_id, day, tags)
    )`.execute(db)
}
