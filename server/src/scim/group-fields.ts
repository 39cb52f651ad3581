import type { AttributePath } from './filter'
import { toAttributeName } from './names'
import type { PatchOperation } from './operations'
import { badRequest } from './scim-error'
import { isObject, toList, type JsonObject } from '../wire/json-body'
import { isOneLine } from '../wire/one-line'

/** A change of the members of a group: users are added or removed, or are all that it has then. */
export interface MemberChange {
  kind: 'add' | 'remove' | 'set'
  userIds: readonly string[]
}

/** The changes of a group, those of its members in their order. */
export interface GroupChange {
  displayName?: string
  externalId?: string | null
  members: MemberChange[]
}

const maxText = 256
/** The maximum number of members in one request. */
const maxMembersInRequest = 5000

const readOnly = new Set(['id', 'meta', 'schemas'])

/** Returns a whole resource as changes: without `members` a group has none. Throws `invalidValue`. */
export function toGroupFields(resource: JsonObject): GroupChange & { displayName: string } {
  const change: GroupChange = { externalId: null, members: [] }
  assignAll(change, resource, 'replace')
  const { displayName } = change
  if (displayName === undefined) throw badRequest('invalidValue', 'displayName: required.')
  if (change.members.length === 0) change.members.push({ kind: 'set', userIds: [] })
  return { ...change, displayName }
}

/** Returns the changes of a PATCH. Throws `invalidValue`, `invalidPath`, `mutability`, `noTarget`, `tooMany`. */
export function toGroupChange(operations: readonly PatchOperation[]): GroupChange {
  const change: GroupChange = { members: [] }
  for (const { op, path, value } of operations) {
    if (path) assign(change, path, { op, value })
    else if (isObject(value)) assignAll(change, value, op)
    else throw badRequest('invalidValue', 'value: an object of attributes without a path.')
  }
  const count = change.members.reduce((sum, { userIds }) => sum + userIds.length, 0)
  if (count > maxMembersInRequest) throw tooManyMembers()
  return change
}

const tooManyMembers = () =>
  badRequest('tooMany', `members: at most ${maxMembersInRequest} in a request.`)

function assignAll(change: GroupChange, attributes: JsonObject, op: PatchOperation['op']): void {
  for (const [name, value] of Object.entries(attributes)) {
    const attribute = toAttributeName(name)
    // Okta repeats the id of the group.
    if (readOnly.has(attribute) || attribute.startsWith('urn:')) continue
    assign(change, { attribute, conditions: [] }, { op, value })
  }
}

function assign(
  change: GroupChange,
  path: AttributePath,
  { op, value }: Pick<PatchOperation, 'op' | 'value'>,
): void {
  const { attribute } = path
  switch (attribute) {
    case 'displayname':
      change.displayName = toText(attribute, op === 'remove' ? null : value)
      return
    case 'externalid':
      change.externalId = op === 'remove' || value === null ? null : toText(attribute, value)
      return
    case 'members':
      change.members.push(toMemberChange(path, { op, value }))
      return
    default:
      if (readOnly.has(attribute)) throw badRequest('mutability', `${attribute}: is read-only.`)
      throw badRequest('invalidPath', `"${attribute.slice(0, 80)}": unknown attribute.`)
  }
}

/** Okta removes a member by a path with its id, Entra ID by a list of values. */
function toMemberChange(
  { conditions, part }: AttributePath,
  { op, value }: Pick<PatchOperation, 'op' | 'value'>,
): MemberChange {
  if (part !== undefined) throw badRequest('mutability', 'members: parts cannot be changed.')
  if (conditions.length > 0) {
    const [condition] = conditions
    const isById = conditions.length === 1 && condition?.attribute === 'value'
    if (op !== 'remove' || !isById) throw badRequest('invalidPath', 'members[value eq "…"]')
    return { kind: 'remove', userIds: [toUserId(condition.value)] }
  }
  const userIds = toUserIds(value)
  if (op === 'add') return { kind: 'add', userIds }
  if (op === 'replace') return { kind: 'set', userIds }
  const isAll = value === null || value === undefined
  return isAll ? { kind: 'set', userIds: [] } : { kind: 'remove', userIds }
}

function toUserIds(value: unknown): string[] {
  const members = isObject(value) ? [value] : toList(value)
  if (members.length > maxMembersInRequest) throw tooManyMembers()
  return [
    ...new Set(members.map((member) => toUserId(isObject(member) ? member['value'] : undefined))),
  ]
}

function toUserId(value: unknown): string {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxText
  if (isText && isOneLine(value) && value.isWellFormed()) return value
  throw badRequest('invalidValue', 'members: each has the id of a user as value.')
}

function toText(attribute: string, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '' && text.length <= maxText && isOneLine(text) && text.isWellFormed()) return text
  throw badRequest('invalidValue', `${attribute}: must be one line of 1 to ${maxText} characters.`)
}
