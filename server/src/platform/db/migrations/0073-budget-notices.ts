import { sql, type Kysely } from 'kysely'

/** Budgets that reject or only notify, and the percents of their amount at which their account is notified. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table budget
      add column enforcement text not null default 'hard' check (enforcement in ('hard', 'soft')),
      add column notify_percents integer[] not null default '{}',
      add column notified_window timestamptz,
      add column notified_percent integer`.execute(db)
  await sql`
    create index budget_notified on budget (user_id) where notify_percents <> '{}'`.execute(db)
  await sql`
    alter table notification
      drop constraint notification_kind_check,
      add constraint notification_kind_check check (kind in (
        'alert', 'alert_test', 'low_balance', 'budget', 'quota_request', 'ticket_reply', 'invitation',
        'system'
      ))`.execute(db)
}
