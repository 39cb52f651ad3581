import type { Transaction } from 'kysely'
import { maxMembers, type NewMember, type NewMembers } from './schema'
import { collectionPrefix } from '../../../catalog/collection'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'

type Trx = Transaction<Schema>

const maxPriority = 1000

/** Whether a model exists for the owner of a collection. */
export type IsKnown = (modelId: string) => boolean

/** Throws `not_allowed` for a collection, `model_not_found` for an unknown model; `at` names the field. */
export function checkMembers(
  members: readonly NewMember[],
  isKnown: IsKnown,
  at: (position: number) => string,
): void {
  for (const [position, { model_id: id }] of members.entries()) {
    const param = at(position)
    if (id.startsWith(collectionPrefix)) {
      throw invalidRequest(
        param,
        'not_allowed',
        `${param}: a collection cannot contain collections.`,
      )
    }
    if (!isKnown(id)) {
      const message = `${param}: model "${id}" does not exist. GET /v1/models lists the available models.`
      throw new ApiError('model_not_found', { param, message })
    }
  }
}

/** Replaces all members. */
export async function replaceMembers(
  trx: Trx,
  collectionId: string,
  members: readonly NewMember[],
): Promise<void> {
  const removed = await trx
    .deleteFrom('model_collection_member')
    .where('collection_id', '=', collectionId)
    .returning(['model_id', 'added_at'])
    .execute()
  if (members.length === 0) return
  const addedAt = new Map(removed.map((row) => [row.model_id, row.added_at]))
  const rows = members.map(({ priority, ...member }, position) => ({
    collection_id: collectionId,
    priority: priority ?? position + 1,
    added_at: addedAt.get(member.model_id) ?? new Date(),
    ...member,
  }))
  await trx.insertInto('model_collection_member').values(rows).execute()
}

/** Normalizes one or several new members, and returns the names of their fields. */
export function toMembers({ models, ...one }: NewMembers) {
  if (models) return { members: models, at: (position: number) => `models.${position}.model_id` }
  const { model_id = '', priority, weight, enabled } = one
  const member = { model_id, priority, weight: weight ?? 1, enabled: enabled ?? true }
  return { members: [member], at: () => 'model_id' }
}

/** Appends members, all or none. The collection is locked. */
export async function addMembers(
  trx: Trx,
  collectionId: string,
  { members, at }: ReturnType<typeof toMembers>,
): Promise<void> {
  const existingMember = await trx
    .selectFrom('model_collection_member')
    .select(['model_id', 'priority'])
    .where('collection_id', '=', collectionId)
    .execute()
  const ids = new Set(existingMember.map((row) => row.model_id))
  const duplicateIndex = members.findIndex(({ model_id: id }) => ids.has(id))
  if (duplicateIndex >= 0) {
    throw invalidRequest(
      at(duplicateIndex),
      'duplicate',
      `${at(duplicateIndex)}: is already in the collection.`,
    )
  }
  if (existingMember.length + members.length > maxMembers) {
    const message = `A collection has at most ${maxMembers} members.`
    throw invalidRequest(null, 'limit_reached', message)
  }
  const last = existingMember.reduce((max, row) => Math.max(max, row.priority), 0)
  const rows = members.map(({ priority, ...member }, position) => ({
    collection_id: collectionId,
    priority: priority ?? Math.min(last + 1 + position, maxPriority),
    ...member,
  }))
  await trx.insertInto('model_collection_member').values(rows).execute()
}
