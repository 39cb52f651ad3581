import { sql, type Kysely } from 'kysely'
import { formatLowBalanceText } from './alert-text'
import { ofAccount, ofOrganization } from '../platform/db/account-row'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { queueEvent } from '../notifications/events'
import { notify } from '../notifications/notify'
import { findRecipients } from '../notifications/recipients'
import { heldByAccount } from '../ledger/held-amounts'
import { postMail } from '../platform/mail/outbox'

const nanosPerUsd = 1e9
const batchSize = 200
const risesPerBatch = 10_000

interface Fallen {
  account_id: string
  owner: string
  /** Nano-dollars, without what running requests hold. */
  available: bigint
}

/**
 * Notifies of each available balance that has fallen below the threshold (nano-dollars) since it was last at or
 * above it, also where it was credited and spent between two checks: the account, or owner and admins of an
 * organization. Once, however many processes look: a fall is recorded and notified in one transaction. Resolves
 * with how many there were.
 */
export async function notifyLowBalances(db: Kysely<Schema>, threshold: bigint): Promise<number> {
  while ((await takeRises(db, threshold)) === risesPerBatch);
  await rearm(db, threshold)
  let notified = 0
  let fallenCount: number
  do {
    fallenCount = await db.transaction().execute(async (trx) => {
      const fallen = await takeFallen(trx, threshold)
      for (const one of fallen) await notifyOwner(trx, one, threshold)
      return fallen.length
    })
    notified += fallenCount
  } while (fallenCount === batchSize)
  return notified
}

/** Records accounts that a credit raised to the threshold or above. Resolves with how many rises were processed. */
async function takeRises(db: Kysely<Schema>, threshold: bigint): Promise<number> {
  const { rows } = await sql<{ taken: bigint }>`
    with taken as (
      delete from balance_rise where ctid = any(array(
        select ctid from balance_rise limit ${risesPerBatch} for update skip locked
      ))
      returning account_id, available
    ), armed as (
      insert into balance_watch (account_id, armed)
      select account_id, true from taken where available >= ${threshold}
      group by account_id order by account_id
      on conflict (account_id) do update set armed = true
    )
    select count(*) as taken from taken`.execute(db)
  return Number(rows[0]?.taken ?? 0n)
}

/** Records the accounts that are at or above the threshold now. */
async function rearm(db: Kysely<Schema>, threshold: bigint): Promise<void> {
  await sql`
    with held as (${heldByAccount})
    insert into balance_watch (account_id, armed)
    select id, true from credit_account left join held on held.account_id = id
    where owner not like 'house:%' and posted >= ${threshold}
      and posted - coalesce(held.held, 0) >= ${threshold}
      and not exists (
        select 1 from balance_watch where account_id = credit_account.id and armed
      )
    on conflict (account_id) do update set armed = true`.execute(db)
}

async function takeFallen(trx: Kysely<Schema>, threshold: bigint): Promise<Fallen[]> {
  const { rows } = await sql<Fallen>`
    with held as (${heldByAccount}), fallen as (
      select balance_watch.account_id, credit_account.owner,
        posted - coalesce(held.held, 0) as available
      from balance_watch join credit_account on credit_account.id = balance_watch.account_id
        left join held on held.account_id = balance_watch.account_id
      where armed and posted - coalesce(held.held, 0) < ${threshold}
      limit ${batchSize} for update of balance_watch skip locked
    )
    update balance_watch set armed = false from fallen
    where balance_watch.account_id = fallen.account_id
    returning fallen.account_id, fallen.owner, fallen.available`.execute(trx)
  return rows
}

async function notifyOwner(
  trx: Kysely<Schema>,
  { account_id: accountId, owner, available }: Fallen,
  threshold: bigint,
): Promise<void> {
  const noticeId = newId('ntf')
  const [balance = 0, limit = 0] = [available, threshold].map(
    (nanos) => Number(nanos) / nanosPerUsd,
  )
  const organization = await findOrganization(trx, { account_id: accountId, owner })
  const accountName = organization ? `the organization ${organization.name}` : 'your account'
  const { title, body } = formatLowBalanceText(accountName, balance, limit)
  const recipients = await findRecipients(
    trx,
    organization ? ofOrganization(organization.id) : ofAccount(accountId),
  )
  for (const { id, email, email_verified } of recipients) {
    await notify(trx, { userId: id, kind: 'low_balance', title, body, link: '/billing' })
    if (!email_verified) continue
    const reference = `low balance ${noticeId} ${id}`
    await postMail(trx, { recipient: email, subject: title, body: `${body}\n`, reference })
  }
  if (!organization) return
  const link = `/billing?organization=${organization.id}`
  await queueEvent(trx, {
    owner: ofOrganization(organization.id),
    type: 'balance.low',
    data: { title, body, organization_id: organization.id, link },
  })
}

/** Finds the organization whose pool an account of the ledger is; undefined for the balance of an account. */
const findOrganization = async (
  trx: Kysely<Schema>,
  { account_id: id, owner }: Pick<Fallen, 'account_id' | 'owner'>,
) =>
  owner.startsWith('organization:')
    ? trx.selectFrom('organization').select(['id', 'name']).where('id', '=', id).executeTakeFirst()
    : undefined
