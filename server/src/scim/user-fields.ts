import type { AttributePath, Condition } from './filter'
import { enterpriseAttribute, toAttributeName } from './names'
import type { PatchOperation } from './operations'
import { badRequest } from './scim-error'
import { isObject, type JsonObject } from '../wire/json-body'
import { isOneLine } from '../wire/one-line'

/** The attributes of a user that are stored. */
export interface UserFields {
  userName: string
  externalId: string | null
  active: boolean
  displayName: string | null
  formatted: string | null
  givenName: string | null
  familyName: string | null
  title: string | null
  department: string | null
  /** The mail address, where it is not the user name. */
  email: string | null
}

export type UserChange = Partial<UserFields>

type TextField = Exclude<keyof UserFields, 'active' | 'email'>

const textFields: Readonly<Record<string, TextField>> = {
  username: 'userName',
  externalid: 'externalId',
  displayname: 'displayName',
  title: 'title',
  department: 'department',
  'name.formatted': 'formatted',
  'name.givenname': 'givenName',
  'name.familyname': 'familyName',
}

/** Attributes that the service decides. */
const readOnly = new Set(['id', 'meta', 'groups', 'schemas'])

/** Attributes of the schemas that are not stored: providers send them unless an administrator removes the mapping. */
const ignoredAttributes = new Set(
  `nickname profileurl usertype preferredlanguage locale timezone password phonenumbers ims photos addresses entitlements
  roles x509certificates name.middlename name.honorificprefix name.honorificsuffix employeenumber costcenter organization
  division manager`.split(/\s+/),
)

const maxText = 256

const blank = {
  externalId: null,
  active: true,
  displayName: null,
  formatted: null,
  givenName: null,
  familyName: null,
  title: null,
  department: null,
  email: null,
}

/** Returns the fields of a whole resource. Throws `invalidValue`. */
export function toUserFields(resource: JsonObject): UserFields {
  const { userName, ...fields } = assignAll({}, resource, 'resource')
  if (userName === undefined) throw badRequest('invalidValue', 'userName: required.')
  return { ...blank, ...fields, userName }
}

/** Returns the fields that a PATCH changes. Throws `invalidValue`, `invalidPath`, `mutability`, `noTarget`. */
export function toUserChange(operations: readonly PatchOperation[]): UserChange {
  const change: UserChange = {}
  for (const { op, path, value } of operations) {
    if (path) assign(change, path, op === 'remove' ? null : value)
    else if (isObject(value)) assignAll(change, value, 'patch')
    else throw badRequest('invalidValue', 'value: an object of attributes without a path.')
  }
  return change
}

/** Assigns the attributes of an object, whose names may be paths: Entra ID has `name.givenName` there. */
function assignAll(
  change: UserChange,
  attributes: JsonObject,
  kind: 'resource' | 'patch',
): UserChange {
  for (const [name, value] of Object.entries(attributes)) {
    const attribute = toAttributeName(name)
    if (readOnly.has(attribute)) continue
    // A resource may have extensions that are not known here.
    if (kind === 'resource' && attribute.startsWith('urn:')) continue
    const [plain, conditions] = splitPath(attribute, name)
    assign(change, { attribute: plain, ...conditions }, value)
  }
  return change
}

/** Splits the name of an attribute in an object that is a path with a condition. */
function splitPath(attribute: string, name: string): [string, Omit<AttributePath, 'attribute'>] {
  const [, plain, type, part] = /^(\w+)\[type eq "(\w+)"\]\.(\w+)$/.exec(attribute) ?? []
  if (plain === undefined || type === undefined || part === undefined) {
    if (name.includes('[')) throw badRequest('invalidPath', `"${name.slice(0, 80)}": unknown.`)
    return [attribute, { conditions: [] }]
  }
  return [plain, { conditions: [{ attribute: 'type', value: type }], part }]
}

function assign(change: UserChange, path: AttributePath, value: unknown): void {
  const { attribute } = path
  const field = Object.hasOwn(textFields, attribute) ? textFields[attribute] : undefined
  if (readOnly.has(attribute)) throw badRequest('mutability', `${attribute}: is read-only.`)
  if (field === 'userName') change.userName = toRequiredText(attribute, value)
  else if (field !== undefined) change[field] = toText(attribute, value)
  else if (attribute === 'active') change.active = toActive(value)
  else if (attribute === 'emails') assignEmail(change, path, value)
  else if (attribute === 'emails.value') change.email = toText(attribute, value)
  else if (attribute === 'name' || attribute === enterpriseAttribute) {
    assignParts(change, attribute, value)
  } else if (
    !ignoredAttributes.has(attribute) &&
    !ignoredAttributes.has(attribute.replace(/\..*$/, ''))
  ) {
    throw badRequest('invalidPath', `"${attribute.slice(0, 80)}": unknown attribute.`)
  }
}

/** Assigns the parts of `name`, or the attributes of the extension. */
function assignParts(change: UserChange, attribute: string, value: unknown): void {
  const prefix = attribute === 'name' ? 'name.' : ''
  if (value === null && prefix !== '') {
    Object.assign(change, { formatted: null, givenName: null, familyName: null })
    return
  }
  if (value === null) {
    change.department = null
    return
  }
  if (!isObject(value)) throw badRequest('invalidValue', `${attribute}: must be an object.`)
  for (const [name, part] of Object.entries(value)) {
    assign(change, { attribute: `${prefix}${name.toLowerCase()}`, conditions: [] }, part)
  }
}

/** Assigns the mail address: of several that which is primary, else of the type `work`, else the first. */
function assignEmail(
  change: UserChange,
  { conditions, part }: AttributePath,
  value: unknown,
): void {
  if (!selectsAddress(conditions)) return
  if (part !== undefined) {
    if (part === 'value') change.email = toText('emails', value)
    return
  }
  if (value === null) {
    change.email = null
    return
  }
  const all = [value].flat().filter(isObject)
  const mainEmail =
    all.find(({ primary }) => primary === true || /^true$/i.test(String(primary))) ??
    all.find(({ type }) => type === 'work') ??
    all[0]
  if (all.length > 0) change.email = toText('emails', mainEmail?.['value'])
}

/** An account has one address: the primary one, for work. */
const selectsAddress = (conditions: readonly Condition[]) =>
  conditions.every(({ attribute, value }) => {
    if (attribute === 'type') return typeof value === 'string' && value.toLowerCase() === 'work'
    return attribute !== 'primary' || value === true
  })

function toText(attribute: string, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  return toRequiredText(attribute, value)
}

function toRequiredText(attribute: string, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '' && text.length <= maxText && isOneLine(text) && text.isWellFormed()) return text
  const message = `${attribute}: must be one line of 1 to ${maxText} characters.`
  throw badRequest('invalidValue', message)
}

/** Entra ID sends the texts "True" and "False". */
function toActive(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (text === 'true' || text === 'false') return text === 'true'
  throw badRequest('invalidValue', 'active: must be true or false.')
}
