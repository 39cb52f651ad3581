import type { Kysely, Transaction } from 'kysely'
import { changeAccount, deactivate, provisionAccount, reactivate, toAddress } from './accounts'
import { recordScimChange } from './audit'
import { changeDirectory, type ProvisioningDirectory } from './directory'
import { syncMemberships } from './memberships'
import type { Preconditions } from './preconditions'
import type { StoredAttributes } from './resources'
import { forbidden, notFound, uniquenessError } from './scim-error'
import type { UserChange, UserFields } from './user-fields'
import { findUser, type FoundUser } from './user-rows'
import { noteCreated } from '../platform/db/background-work'
import type { Schema } from '../platform/db/schema'
import { isUniqueViolation } from '../platform/db/violation'

export interface UserPorts {
  db: Kysely<Schema>
  /** Called when an account was changed: this node forgets what it knows of its keys, connections and limits. */
  changed: (userId: string) => void
}

/** Users of directories. All reject with 404 for users of other directories. Source: contract 2.6. */
export function createUserChanges({ db, changed }: UserPorts) {
  return {
    async create(directory: ProvisioningDirectory, fields: UserFields): Promise<string> {
      const id = await changeDirectory(db, directory, (trx) => insert(trx, directory, fields))
      changed(id)
      return id
    },
    /** Changes fields of a user, of which `change` may have all. */
    async change(
      directory: ProvisioningDirectory,
      id: string,
      { change, check, onChange }: UserUpdate,
    ) {
      await changeDirectory(db, directory, async (trx) => {
        const user = await findUser(trx, directory, id)
        if (!user) throw notFound()
        check(user)
        onChange(await update(trx, directory, { user, change }))
      })
      changed(id)
    },
    async remove(
      directory: ProvisioningDirectory,
      id: string,
      check: Preconditions,
    ): Promise<void> {
      await changeDirectory(db, directory, async (trx) => {
        const user = await findUser(trx, directory, id)
        if (!user) throw notFound()
        check(user)
        await remove(trx, directory, user)
      })
      changed(id)
    },
  }
}

interface UserUpdate {
  change: UserChange
  check: Preconditions
  /** Receives the names of the fields that differ, before the change is committed. */
  onChange: (names: readonly string[]) => void
}

const rejectTaken = (thrown: unknown) => {
  throw isUniqueViolation(thrown)
    ? uniquenessError('userName: another user of the directory has it.')
    : thrown
}

/** Returns what is stored of a user beside the columns. */
const toStored = ({
  userName: _userName,
  externalId: _externalId,
  active: _active,
  ...attributes
}: UserFields): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null)),
  )

async function insert(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  fields: UserFields,
): Promise<string> {
  const { id, isNew } = await provisionAccount(trx, directory, fields)
  noteCreated(id)
  await trx
    .insertInto('scim_user')
    .values({
      user_id: id,
      directory_id: directory.id,
      user_name: fields.userName,
      external_id: fields.externalId,
      attributes: toStored(fields),
    })
    .execute()
    .catch(rejectTaken)
  if (fields.active) await reactivate(trx, directory, id)
  else await deactivate(trx, directory, id)
  await recordScimChange(trx, directory, {
    action: isNew ? 'scim_user.created' : 'scim_user.linked',
    objectId: id,
    objectName: toAddress(fields),
    after: { active: fields.active },
  })
  return id
}

const blank: Omit<UserFields, 'userName' | 'externalId' | 'active'> = {
  displayName: null,
  formatted: null,
  givenName: null,
  familyName: null,
  title: null,
  department: null,
  email: null,
}

const toFields = (user: FoundUser): UserFields => ({
  ...blank,
  ...(user.attributes satisfies StoredAttributes),
  userName: user.user_name,
  externalId: user.external_id,
  active: user.status === 'active',
})

async function update(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { user, change }: { user: FoundUser; change: UserChange },
): Promise<string[]> {
  checkOperator(directory, user)
  const before = toFields(user)
  const next = { ...before, ...change }
  const names = fieldNames.filter((name) => next[name] !== before[name])
  if (names.length === 0) return names
  const { user_id: id, email } = user
  if (names.some((name) => name !== 'active')) {
    await trx
      .updateTable('scim_user')
      .set({
        user_name: next.userName,
        external_id: next.externalId,
        attributes: toStored(next),
        updated_at: new Date(),
      })
      .where('user_id', '=', id)
      .execute()
      .catch(rejectTaken)
  }
  // Before the account, as the lock of an organization comes before that of its members.
  if (names.includes('department')) await syncMemberships(trx, directory, [id])
  if (names.some((name) => accountNames.has(name))) {
    const isAddressed = names.includes('userName') || names.includes('email')
    const account = { id, isOperator: user.is_operator, email, next, isAddressed }
    await changeAccount(trx, directory, account)
  }
  const switched = names.includes('active') && (await setActive(trx, directory, { id, next }))
  await recordScimChange(trx, directory, {
    action: toAction(switched ? next.active : undefined),
    objectId: id,
    objectName: user.email,
    after: { fields: names },
  })
  return names
}

const fieldNames: readonly (keyof UserFields)[] = [
  'userName',
  'externalId',
  'active',
  'displayName',
  'formatted',
  'givenName',
  'familyName',
  'title',
  'department',
  'email',
]

/** The fields that the name and the address of an account come from. */
const accountNames: ReadonlySet<string> = new Set([
  'userName',
  'email',
  'displayName',
  'formatted',
  'givenName',
  'familyName',
])

const toAction = (active: boolean | undefined) => {
  if (active === undefined) return 'scim_user.changed'
  return active ? 'scim_user.reactivated' : 'scim_user.deactivated'
}

const setActive = (
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  { id, next }: { id: string; next: UserFields },
) => (next.active ? reactivate(trx, directory, id) : deactivate(trx, directory, id))

/** The directory of an organization has no power over operators of the installation. */
function checkOperator(
  { organizationId }: ProvisioningDirectory,
  { is_operator: isOperator }: FoundUser,
): void {
  if (organizationId === null || !isOperator) return
  throw forbidden('The account is that of an operator, which an organization cannot change.')
}

async function remove(
  trx: Transaction<Schema>,
  directory: ProvisioningDirectory,
  user: FoundUser,
): Promise<void> {
  checkOperator(directory, user)
  const { user_id: id, email } = user
  await trx.deleteFrom('scim_group_member').where('user_id', '=', id).execute()
  await syncMemberships(trx, directory, [id])
  await deactivate(trx, directory, id)
  await trx.deleteFrom('scim_user').where('user_id', '=', id).execute()
  await recordScimChange(trx, directory, {
    action: 'scim_user.deleted',
    objectId: id,
    objectName: email,
    after: { active: false },
  })
}
