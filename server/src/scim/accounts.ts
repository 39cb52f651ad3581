import { sql, type Transaction } from 'kysely'
import { z } from 'zod'
import type { ProvisioningDirectory } from './directory'
import { badRequest, forbidden, uniquenessError } from './scim-error'
import type { UserFields } from './user-fields'
import { confirmAddressOf } from '../auth/sign-in/confirm-address'
import { endLinks } from '../auth/sign-in/link'
import { endAccess } from '../auth/sign-in/remove-second-factor'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { isUniqueViolation } from '../platform/db/violation'
import { toOneLine } from '../wire/one-line'

const maxName = 100

/** The fields that decide on the account of a user. */
type AccountFields = Omit<UserFields, 'externalId' | 'title' | 'department' | 'active'>

/** Returns the name of an account. */
const toDisplayName = (fields: AccountFields, email: string): string => {
  const parts = [fields.givenName, fields.familyName].filter(Boolean).join(' ')
  const name = fields.displayName ?? fields.formatted ?? parts
  return toOneLine(name, maxName) || toOneLine(email.slice(0, email.lastIndexOf('@')), maxName)
}

const Address = z.email().max(254)

/** Returns the mail address of a user, in lower case. Throws `invalidValue` where neither field is one. */
export function toAddress({ email, userName }: Pick<UserFields, 'email' | 'userName'>): string {
  const address = Address.safeParse(email ?? userName)
  if (address.success) return address.data.toLowerCase()
  const message = 'emails: a mail address is required, unless userName is one.'
  throw badRequest('invalidValue', message)
}

/** Throws for an address whose domain the operator has not listed for the directory. */
function checkDomain({ domains }: ProvisioningDirectory, email: string): void {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (domains.includes(domain)) return
  throw forbidden(`The domain ${domain} is not among those that the operator has listed.`)
}

interface AccountRow {
  id: string
  isOperator: boolean
  isVerified: boolean
}

/** How a user of a directory got its account. */
interface ProvisionedAccount {
  id: string
  isNew: boolean
}

/**
 * Creates the account of an address, or takes the one that it has. Throws for an address of another domain, and for an
 * account that the directory may not have: of another directory, or, for an organization, of an operator or of an owner of
 * another organization.
 */
export async function provisionAccount(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  fields: AccountFields,
): Promise<ProvisionedAccount> {
  const email = toAddress(fields)
  checkDomain(directory, email)
  const { rows } = await sql<AccountRow>`
    select id, (is_operator or operator_role is not null) as "isOperator", email_verified as "isVerified"
    from users where lower(email) = ${email} for no key update`.execute(trx)
  const [account] = rows
  if (account) {
    await checkAdoption(trx, directory, account)
    // The person who typed the address may not own it.
    if (!account.isVerified) await confirmAddressOf(trx, email)
    await setName(trx, account.id, toDisplayName(fields, email))
    return { id: account.id, isNew: false }
  }
  const id = newId('user')
  await trx
    .insertInto('users')
    .values({ id, email, display_name: toDisplayName(fields, email), email_verified: true })
    .execute()
    .catch(rejectTaken)
  return { id, isNew: true }
}

const setName = (trx: Transaction<Schema>, id: string, name: string) =>
  trx
    .updateTable('users')
    .set({ display_name: name, updated_at: new Date() })
    .where('id', '=', id)
    .execute()

async function checkAdoption(
  trx: Transaction<Schema>,
  { organizationId }: ProvisioningDirectory,
  { id, isOperator }: AccountRow,
): Promise<void> {
  const { rows } = await sql<{ isProvisioned: boolean; ownsOther: boolean }>`
    select
      exists (select from scim_user where user_id = ${id}) as "isProvisioned",
      exists (
        select from membership
        where user_id = ${id} and role = 'owner' and organization_id <> ${organizationId ?? ''}
      ) as "ownsOther"`.execute(trx)
  const [facts] = rows
  const isForeign = organizationId !== null && (isOperator || facts?.ownsOther)
  if (!facts?.isProvisioned && !isForeign) return
  throw uniquenessError('An account with this address exists, and this directory may not have it.')
}

const rejectTaken = (thrown: unknown) => {
  throw isUniqueViolation(thrown) ? uniquenessError('An account with this address exists.') : thrown
}

interface AccountChange {
  id: string
  isOperator: boolean
  email: string
  next: AccountFields
  /** Whether one of the fields has changed that its address comes from. */
  isAddressed: boolean
}

/**
 * Changes the name and the address of an account. Throws for an address of another domain, one that another has, and for the
 * address of an operator: its sign-in could be taken over by it.
 */
export async function changeAccount(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { id, isOperator, email, next, isAddressed }: AccountChange,
): Promise<void> {
  // An operator may have given the account another address since.
  const address = isAddressed ? toAddress(next) : email.toLowerCase()
  await setName(trx, id, toDisplayName(next, address))
  if (address === email.toLowerCase()) return
  checkDomain(directory, address)
  if (isOperator) throw forbidden('The address of an operator cannot be changed by SCIM.')
  await trx
    .updateTable('users')
    .set({ email: address, email_verified: true })
    .where('id', '=', id)
    .execute()
    .catch(rejectTaken)
  // A mailed link would sign in the owner of the address before.
  await endLinks(trx, email)
}

/** Names the directory in the reason, so that it reinstates those accounts only that it has deactivated. */
const reasonOf = ({ id }: ProvisioningDirectory) => `Deactivated by the identity provider (${id}).`

/** Suspends an account and ends its sessions. Returns whether it was active. */
export async function deactivate(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  userId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ status: 'suspended', suspended_reason: reasonOf(directory), updated_at: new Date() })
    .where('id', '=', userId)
    .where('status', '=', 'active')
    .executeTakeFirst()
  await endAccess(trx, userId)
  return numUpdatedRows > 0n
}

/** Reinstates an account that this directory has deactivated. Returns whether it did. */
export async function reactivate(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  userId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ status: 'active', suspended_reason: null, updated_at: new Date() })
    .where('id', '=', userId)
    .where('status', '=', 'suspended')
    .where('suspended_reason', '=', reasonOf(directory))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
