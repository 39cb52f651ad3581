import { z } from 'zod'
import { strategies } from '../../../catalog/collection'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { customIssue } from '../../../wire/field-error'

export const maxMembers = 200

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, ".", "_" and "-".')
const displayName = line(100, 0)
const description = line(1000, 0)
const strategy = z.enum(strategies)
const scope = z.enum(['individual', 'organization'])
const rank = z.int().min(1).max(1000)

const Member = z.object({
  model_id: z.string().min(1).max(256),
  priority: rank.nullish(),
  weight: rank.nullish(),
  enabled: z.boolean().nullish(),
})

/** A bare model id is a member with all defaults. */
const NewMember = z.union([z.string().min(1).max(256), Member]).transform((member) => {
  const { model_id, priority, weight, enabled } =
    typeof member === 'string' ? { model_id: member } : member
  return { model_id, priority, weight: weight ?? 1, enabled: enabled ?? true }
})
export type NewMember = z.output<typeof NewMember>

/** Returns the index of the first member that repeats an earlier one. */
function repeated(members: readonly NewMember[]): number {
  const seenKeys = new Set<string>()
  return members.findIndex(({ model_id }) => seenKeys.size === seenKeys.add(model_id).size)
}

const memberList = z
  .array(NewMember)
  .max(maxMembers)
  .superRefine((members, ctx) => {
    const at = repeated(members)
    if (at >= 0) ctx.addIssue(customIssue('duplicate', 'is already in the list.', [at, 'model_id']))
  })

/** A new collection. Source: contract 7.5. */
export const NewCollection = z
  .object({
    name: name.describe('Called as `collection/<name>`'),
    display_name: displayName.nullish(),
    description: description.nullish(),
    scope: scope.nullish().transform((value) => value ?? 'individual'),
    organization_id: z.string().nullish(),
    routing_strategy: strategy.nullish().transform((value) => value ?? 'priority'),
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
    members: memberList.nullish().transform((value) => value ?? []),
  })
  .superRefine((collection, ctx) => {
    const { scope: of, organization_id: id } = collection
    if (of === 'organization' && !id) {
      ctx.addIssue(customIssue('required', 'this field is required.', ['organization_id']))
    }
    if (of === 'individual' && id) {
      const message = 'only allowed for scope "organization".'
      ctx.addIssue(customIssue('conflict', message, ['organization_id']))
    }
  })
  .meta({ ref: 'NewModelCollection' })
export type NewCollection = z.output<typeof NewCollection>

export const ChangedCollection = z
  .object({
    name: name.optional(),
    display_name: displayName.nullish(),
    description: description.nullish(),
    routing_strategy: strategy.optional(),
    enabled: z.boolean().optional(),
    members: memberList.optional(),
  })
  .meta({ ref: 'ChangedModelCollection' })
export type ChangedCollection = z.output<typeof ChangedCollection>

/** The same of a system collection. */
export const ChangedSystemCollection = ChangedCollection.meta({ ref: 'ChangedCollection' })

/** One member, or several. */
export const NewMembers = z
  .object({
    ...Member.partial().shape,
    models: z.array(NewMember).min(1).max(maxMembers).optional(),
  })
  .superRefine((fields, ctx) => {
    const { model_id, models } = fields
    if (model_id && models) ctx.addIssue(customIssue('conflict', 'excludes model_id.', ['models']))
    if (!model_id && !models) {
      ctx.addIssue(customIssue('required', 'this field is required.', ['model_id']))
    }
    const at = repeated(models ?? [])
    if (at >= 0) {
      ctx.addIssue(customIssue('duplicate', 'is already in the list.', ['models', at, 'model_id']))
    }
  })
  .meta({ ref: 'NewModelCollectionMembers' })
export type NewMembers = z.output<typeof NewMembers>

/** The query of the list. */
export const CollectionFilter = z.object({
  scope: z
    .enum(['individual', 'organization', 'system'])
    .optional()
    .describe('Only collections of this scope'),
})

export const Collection = z
  .object({
    id: objectId('coll'),
    name: z.string().meta({ examples: ['steady'] }),
    display_name: z.string().nullable(),
    description: z.string().nullable(),
    model_id: z
      .string()
      .meta({ examples: ['collection/steady'] })
      .describe('`collection/<name>`, the model in requests'),
    scope: z.enum(['individual', 'organization', 'system']),
    organization_id: z.string().nullable(),
    routing_strategy: strategy,
    enabled: z.boolean(),
    members: z.array(
      z.object({
        model_id: z.string(),
        priority: z.int(),
        weight: z.int(),
        enabled: z.boolean(),
        added_at: z.iso.datetime(),
      }),
    ),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'ModelCollection' })

export const CollectionList = z.object({ collections: z.array(Collection) })

/** A new system collection: without scope and organization. Source: contract 9.2. */
export const NewSystemCollection = z
  .object({
    name,
    display_name: displayName.nullish(),
    description: description.nullish(),
    routing_strategy: strategy.default('priority'),
    enabled: z.boolean().default(true),
    members: memberList.default([]),
  })
  .meta({ ref: 'NewSystemCollection' })
export type NewSystemCollection = z.output<typeof NewSystemCollection>
