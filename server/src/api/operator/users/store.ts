import { sql, type Kysely, type Selectable, type Transaction, type Updateable } from 'kysely'
import { eraseUser } from './erase'
import { createExports, type OtherRows } from './export'
import { refuseLastOperator, requireCustomer, toRequestedRole } from './role-rules'
import type { ChangedUser, NewUser, SignInLink, UserFilter } from './schema'
import { toOperatorRole, toRoleColumns, type OperatorRole } from '../../../platform/operator-role'
import { isId, newId } from '../../../platform/db/id'
import type { Schema, UserRow } from '../../../platform/db/schema'
import { usersWithSettings } from '../../../platform/db/stored-settings'
import { isReferred, isUniqueViolation } from '../../../platform/db/violation'
import { noteCreated } from '../../../platform/db/background-work'
import { ApiError, invalidRequest } from '../../../errors'
import { toPublicSettings, type StoredSettings } from '../../../http/account-settings'
import { present, toTimestamp } from '../../../http/fields'
import { toPublicOverrides, toStoredOverrides } from '../../../http/limits'
import { createKeyStore } from '../../../keys/store'
import { toUsd } from '../../../wire/usd'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'

/** The credit account of a user. */
interface Account {
  id: string
  /** Nano-dollars. */
  posted: bigint
  /** A finding of the ledger audit; while set, no request that costs anything is served. */
  blocked_reason: string | null
  /** The last use of a session of the dashboard, to the day: sessions are renewed once a day. */
  session_at: Date | null
}

/** Changes of a user that are stored with its credit account. */
interface AccountChange {
  isPaymentRequired?: boolean | undefined
  isUnblocked?: boolean
  /** The role of the operator who asks; that of full ones unless it is set. */
  by?: OperatorRole
}

type Row = Selectable<UserRow> & StoredSettings

const toUser = (row: Row, account: Account | undefined) => ({
  id: row.id,
  ...toPublicSettings(row),
  status: row.status,
  suspended_reason: row.suspended_reason,
  is_operator: row.is_operator,
  operator_role: toOperatorRole(row),
  balance: toUsd(account?.posted ?? 0n),
  blocked: account !== undefined && account.blocked_reason !== null,
  blocked_reason: account?.blocked_reason ?? null,
  plan_id: row.plan_id,
  limits: toPublicOverrides(row.limits),
  last_active_at: toLatest(row.last_active_at, account?.session_at ?? null),
})

/** Returns the later of two moments; null where there is neither. */
function toLatest(one: Date | null, other: Date | null): string | null {
  const latest = one && other ? (one > other ? one : other) : (one ?? other)
  return latest && toTimestamp(latest)
}

const rejectConflict = (thrown: unknown) => {
  if (isReferred(thrown)) {
    throw invalidRequest('plan_id', 'unknown_value', 'plan_id: the plan does not exist.')
  }
  if (!isUniqueViolation(thrown)) throw thrown
  throw invalidRequest('email', 'taken', 'email: an account with this address already exists.')
}

export type UserStore = ReturnType<typeof createUserStore>

/** Mails the owner of a new account how to sign in. */
type Invite = (user: { email: string; display_name: string }) => Promise<void>

/** Creates a link that signs the owner of an account in once. Rejects for a suspended account, and after too many. */
type CreateLink = (user: {
  id: string
  email: string
  status: 'active' | 'suspended'
}) => Promise<SignInLink>

const noLinks: CreateLink = () =>
  Promise.reject(new Error('This store was created without sign-in links.'))

interface UserStoreOptions {
  invite?: Invite
  createLink?: CreateLink
  /** Rows of accounts that are stored outside of the database. */
  otherRows?: OtherRows | undefined
}

/** Accounts and their keys, for operators. All reject with `resource_not_found` for unknown ids. */
export function createUserStore(
  db: Kysely<Schema>,
  { invite, createLink = noLinks, otherRows }: UserStoreOptions = {},
) {
  async function findUser(id: string) {
    if (!isId('user', id)) throw new ApiError('resource_not_found')
    const rows = await usersWithSettings(db).where('users.id', '=', id).execute()
    const [user] = await withBalances(db, rows)
    if (!user) throw new ApiError('resource_not_found')
    return user
  }

  async function change(id: string, fields: Updateable<UserRow>, account: AccountChange = {}) {
    if (!isId('user', id)) throw new ApiError('resource_not_found')
    await db.transaction().execute(async (trx) => {
      const endsOperator = fields.is_operator === false || fields.status === 'suspended'
      if (endsOperator) await refuseLastOperator(trx, id)
      await requireCustomer(trx, id, account.by ?? 'operator')
      await requirePayment(trx, id, account.isPaymentRequired)
      if (account.isUnblocked) await unblock(trx, id)
      const { numUpdatedRows } = await trx
        .updateTable('users')
        .set({ ...fields, updated_at: new Date() })
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
        .catch(rejectConflict)
      // Within the transaction, which otherwise records a change of an account that does not exist.
      if (numUpdatedRows === 0n) throw new ApiError('resource_not_found')
    })
    return findUser(id)
  }

  return {
    list: (page: Page, filter: UserFilter) => listUsers(db, page, filter),
    get: findUser,
    async create(fields: NewUser) {
      const insert = (trx: Transaction<Schema>) => insertUser(trx, fields)
      const user = await findUser(await db.transaction().execute(insert))
      await invite?.(user)
      return user
    },
    change: (id: string, changed: ChangedUser) =>
      change(id, toColumns(changed), {
        isPaymentRequired: changed.payment_method_required,
        isUnblocked: changed.blocked === false,
      }),
    /** Rejects with `insufficient_permissions` where an operator with a lesser role names another operator. */
    suspend: (id: string, reason: string, by: OperatorRole) =>
      change(id, { status: 'suspended', suspended_reason: reason }, { by }),
    /** Rejects as `suspend` does. */
    reinstate: (id: string, by: OperatorRole) =>
      change(id, { status: 'active', suspended_reason: null }, { by }),
    createSignInLink: async (id: string) => createLink(await findUser(id)),
    export: createExports(db, { others: otherRows }),
    erase: (id: string) => eraseUser(db, id),
    keys: createKeyStore({ db, checkOwner: findUser }),
  }
}

/** Returns the columns of an account that a request changes. */
function toColumns({ email, display_name, plan_id, limits, ...changed }: ChangedUser) {
  const role = toRequestedRole(changed)
  return present({
    email,
    display_name,
    plan_id,
    limits: limits && toStoredOverrides(limits),
    ...(role !== undefined && toRoleColumns(role)),
  })
}

/** Inserts an account and returns its id. Rejects if the address is taken, or the plan does not exist. */
export async function insertUser(trx: Transaction<Schema>, fields: NewUser): Promise<string> {
  const { email, display_name, plan_id, limits } = fields
  const id = newId('user')
  noteCreated(id)
  await trx
    .insertInto('users')
    .values({
      id,
      email,
      display_name: display_name ?? email.slice(0, email.indexOf('@')),
      ...toRoleColumns(toRequestedRole(fields) ?? null),
      ...present({ plan_id, limits: limits && toStoredOverrides(limits) }),
    })
    .execute()
    .catch(rejectConflict)
  await requirePayment(trx, id, fields.payment_method_required)
  return id
}

/** Sets whether paid requests are rejected until a payment; the nodes receive a notification. */
async function requirePayment(
  db: Kysely<Schema>,
  userId: string,
  isRequired: boolean | undefined,
): Promise<void> {
  if (isRequired === undefined) return
  await sql`
    update credit_account set payment_method_required = ${isRequired}
    where id = ${userId} and payment_method_required <> ${isRequired}`.execute(db)
}

/** Unblocks an account; the next audit blocks it again where it finds the same. */
async function unblock(db: Kysely<Schema>, userId: string): Promise<void> {
  await sql`
    update credit_account set blocked_reason = null
    where id = ${userId} and blocked_reason is not null`.execute(db)
}

async function listUsers(db: Kysely<Schema>, page: Page, filter: UserFilter) {
  const { search, status, plan_id: planId, is_operator: isOperator, operator_role: role } = filter
  const filtered = usersWithSettings(db)
    .$if(status !== undefined, (query) => query.where('users.status', '=', status ?? 'active'))
    .$if(planId !== undefined, (query) => query.where('users.plan_id', '=', planId ?? ''))
    .$if(isOperator !== undefined, (query) =>
      query.where('users.is_operator', '=', isOperator ?? false),
    )
    .$if(role !== undefined, (query) => query.where(hasRole(role ?? 'operator')))
    .$if(search !== undefined, (query) =>
      query.where((is) =>
        is.or([
          is('users.email', 'ilike', containing(search ?? '')),
          is('users.display_name', 'ilike', containing(search ?? '')),
        ]),
      ),
    )
  const { items, pagination } = await queryPage(db, filtered, { page, column: 'users.id' })
  return { users: await withBalances(db, items), pagination }
}

const hasRole = (role: OperatorRole) =>
  role === 'operator'
    ? sql<boolean>`users.is_operator`
    : sql<boolean>`not users.is_operator and users.operator_role = ${role}`

/** Adds to users their posted balances and their last sessions. */
async function withBalances(db: Kysely<Schema>, rows: readonly Row[]) {
  const ids = rows.map(({ id }) => id)
  const { rows: accounts } = await sql<Account>`
    select id, posted, blocked_reason,
      (select max(updated_at) from auth_session where user_id = credit_account.id) as session_at
    from credit_account
    where id = any(${ids}::text[])`.execute(db)
  const byId = new Map(accounts.map((account) => [account.id, account]))
  return rows.map((row) => toUser(row, byId.get(row.id)))
}
