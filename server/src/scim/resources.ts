import { basePath, schemas, toAttributeName } from './names'
import { badRequest } from './scim-error'
import type { UserFields } from './user-fields'
import type { JsonObject } from '../wire/json-body'
import { toTimestamp } from '../http/fields'

/** A resource as its client sees it. */
export interface Resource extends JsonObject {
  id: string
  meta: {
    resourceType: string
    created: string
    lastModified: string
    location: string
    version: string
  }
}

/** Attributes that are stored of a user beside the columns of its row. */
export type StoredAttributes = Partial<Omit<UserFields, 'userName' | 'externalId' | 'active'>>

export interface UserRecord {
  user_id: string
  user_name: string
  external_id: string | null
  attributes: StoredAttributes
  created_at: Date
  updated_at: Date
  email: string
  display_name: string
  status: 'active' | 'suspended'
}

/** A group of a user, or a member of a group. */
export interface Reference {
  value: string
  display: string
}

/** A page of resources. */
interface ResourcePage {
  total: number
  startIndex: number
  resources: readonly object[]
}

interface Rendering {
  kind: 'User' | 'Group'
  id: string
  created: Date
  changed: Date
  address: string
  /** A text that changes with the resource. */
  version: string
}

/** Returns the fields of a resource with its `meta`. */
function withMeta(fields: JsonObject, rendering: Rendering): Resource {
  const { kind, id, created, changed, address, version } = rendering
  return {
    ...fields,
    id,
    meta: {
      resourceType: kind,
      created: toTimestamp(created),
      lastModified: toTimestamp(changed),
      location: `${address}${basePath}/${kind}s/${id}`,
      version: `W/"${version}"`,
    },
  }
}

/** Returns the fields that are not null; an object without any becomes undefined. */
function presentFields(fields: JsonObject): JsonObject | undefined {
  const present = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  return present.length === 0 ? undefined : Object.fromEntries(present)
}

/** Renders a user. Its version is that of all of its state: an operator may suspend the account. Source: RFC 7643 4.1. */
export function toUserResource(
  row: UserRecord,
  groups: readonly Reference[],
  address: string,
): Resource {
  const { attributes } = row
  const { givenName, familyName, formatted } = attributes
  const enterprise = presentFields({ department: attributes.department })
  const fields = presentFields({
    schemas: [schemas.user, ...(enterprise ? [schemas.enterprise] : [])],
    externalId: row.external_id,
    userName: row.user_name,
    name: presentFields({ formatted, familyName, givenName }),
    displayName: row.display_name,
    title: attributes.title,
    emails: [{ value: row.email, type: 'work', primary: true }],
    active: row.status === 'active',
    groups: groups.map(({ value, display }) => ({
      value,
      display,
      type: 'direct',
      $ref: `${address}${basePath}/Groups/${value}`,
    })),
    [schemas.enterprise]: enterprise,
  })
  const { created_at: created, updated_at: changed, ...state } = row
  return withMeta(fields ?? {}, {
    version: Bun.hash(JSON.stringify([state, groups])).toString(36),
    kind: 'User',
    id: row.user_id,
    created,
    changed,
    address,
  })
}

export interface GroupRecord {
  id: string
  display_name: string
  external_id: string | null
  version: number
  created_at: Date
  updated_at: Date
}

/** Renders a group; `members` is undefined where the client does not want them. Source: RFC 7643 4.2. */
export function toGroupResource(
  row: GroupRecord,
  members: readonly Reference[] | undefined,
  address: string,
): Resource {
  const fields = presentFields({
    schemas: [schemas.group],
    externalId: row.external_id,
    displayName: row.display_name,
    members: members?.map(({ value, display }) => ({
      value,
      display,
      type: 'User',
      $ref: `${address}${basePath}/Users/${value}`,
    })),
  })
  return withMeta(fields ?? {}, {
    kind: 'Group',
    id: row.id,
    created: row.created_at,
    changed: row.updated_at,
    address,
    version: String(row.version),
  })
}

/** Renders a page. Source: RFC 7644 3.4.2. */
export const toListResponse = ({ total, startIndex, resources }: ResourcePage) => ({
  schemas: [schemas.list],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})

const maxNames = 50

/** The attributes that a client wants, or does not want. */
export class Projection {
  readonly #wantedNames: readonly string[] | undefined
  readonly #excludedNames: readonly string[]

  /** Throws `invalidValue` for too many names. Source: RFC 7644 3.9. */
  constructor(attributes: string | undefined, excludedAttributes: string | undefined) {
    this.#wantedNames = attributes === undefined ? undefined : toNames(attributes)
    this.#excludedNames = excludedAttributes === undefined ? [] : toNames(excludedAttributes)
  }

  /** Whether the answer has an attribute; its name is in lower case. */
  has(attribute: string): boolean {
    const isWanted =
      !this.#wantedNames ||
      this.#wantedNames.some((name) => name === attribute || name.startsWith(`${attribute}.`))
    return isWanted && !this.#excludedNames.includes(attribute)
  }

  /** Returns the attributes of a resource that the answer has; `id` and `schemas` always. */
  apply(resource: Resource): JsonObject {
    return Object.fromEntries(
      Object.entries(resource).filter(
        ([name]) => name === 'id' || name === 'schemas' || this.has(toAttributeName(name)),
      ),
    )
  }
}

function toNames(list: string): string[] {
  const names = list.split(',').map((name) => toAttributeName(name.trim()))
  if (names.length <= maxNames) return names
  throw badRequest('invalidValue', `attributes: at most ${maxNames}.`)
}
