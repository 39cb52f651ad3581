import { sql, type Kysely } from 'kysely'
import { newId } from '../id'

/** A plan whose accounts the installation pays for (the house), and the operator's own account on it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table plan add column house_pays boolean not null default false`.execute(db)
  // The cost of requests that the house paid for; it is in neither `cost` nor `written_off`.
  await sql`alter table usage_sum add column house_paid bigint not null default 0`.execute(db)
  await sql`
    insert into plan (id, name, house_pays)
    select ${newId('plan')},
      case when exists (select from plan where lower(name) = 'owner')
        then 'owner (built in)' else 'owner' end,
      true`.execute(db)
  // The account that the first start created, unless an operator has changed its limits.
  await sql`
    update users set plan_id = (select id from plan where house_pays)
    where email = 'operator@tollgate.internal' and is_operator and limits = '{}'
      and plan_id = (select id from plan where is_default and name = 'free')`.execute(db)
  await sql`drop trigger plan_changed on plan`.execute(db)
  await sql`
    create trigger plan_changed after update of
      requests_per_minute, tokens_per_minute, max_concurrent_requests, monthly_requests, monthly_spend,
      house_pays
    on plan for each statement execute function announce_plan()`.execute(db)
}
