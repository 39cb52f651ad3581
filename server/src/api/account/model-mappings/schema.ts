import { z } from 'zod'
import { mostRuns, runsNamedBy, runsOf } from '../../../catalog/mapping'
import { Pagination } from '../../../http/documentation'
import { trimmed } from '../../../http/fields'
import { broken } from '../../../wire/field-error'
import { isModelName } from '../../../wire/model-id'

const pattern = z
  .string()
  .min(1)
  .max(200)
  .refine((source) => runsOf(source) <= mostRuns, {
    params: { issue: 'too_many' },
    message: `must have at most ${mostRuns} stars.`,
  })
const matchType = z.enum(['exact', 'wildcard'])
const priority = z.int().min(1).max(1000)
const description = trimmed(500, 0)

/** A sample for a wildcard, which may match a slash too. */
const someRun = 'a/a'

const target = z
  .string()
  .min(1)
  .max(256)
  .refine((name) => isModelName(name.replaceAll(/\$\d/g, someRun)), {
    params: { issue: 'bad_format' },
    message: 'must be <provider>/<model>, collection/<name> or <handle>/<provider>/<model>.',
  })

/** The fields of a mapping that decide how it applies. */
interface Rule {
  source_pattern: string
  target_model: string
  match_type?: 'exact' | 'wildcard' | undefined
}

/** Finds a conflict between the fields of a mapping. */
export function findMappingConflict({ source_pattern, target_model, match_type }: Rule) {
  const runs = runsOf(source_pattern)
  const beyond = runsNamedBy(target_model).find((run) => run === 0 || run > runs)
  if (beyond !== undefined) {
    const words = `$${beyond} is beyond the pattern, which has a number of stars of ${runs}.`
    return broken('bad_format', words, ['target_model'])
  }
  if (match_type && match_type !== matchTypeOf(source_pattern)) {
    const words = `a pattern is "wildcard" when it has a star, else "exact".`
    return broken('conflict', words, ['match_type'])
  }
  return undefined
}

export const matchTypeOf = (source: string) => (runsOf(source) > 0 ? 'wildcard' : 'exact')

/** A new mapping. Source: contract 7.6. */
export const NewMapping = z
  .object({
    source_pattern: pattern.describe('Any name; `*` stands for any run of characters'),
    target_model: target.describe('What it becomes; `$1` to `$5` stand for the runs'),
    match_type: matchType.nullish().describe('Follows from the pattern'),
    priority: priority.nullish().transform((value) => value ?? 100),
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
    description: description.nullish(),
  })
  .superRefine((mapping, ctx) => {
    const conflict = findMappingConflict({
      ...mapping,
      match_type: mapping.match_type ?? undefined,
    })
    if (conflict) ctx.addIssue(conflict)
  })
export type NewMapping = z.output<typeof NewMapping>

export const ChangedMapping = z.object({
  source_pattern: pattern.optional(),
  target_model: target.optional(),
  match_type: matchType.optional(),
  priority: priority.optional(),
  enabled: z.boolean().optional(),
  description: description.nullish(),
})
export type ChangedMapping = z.output<typeof ChangedMapping>

export const NewPreview = z.object({
  model: z.string().min(1).max(256),
  mapping: NewMapping.optional(),
})
export type NewPreview = z.output<typeof NewPreview>

export const Mapping = z
  .object({
    id: z.string(),
    source_pattern: z.string(),
    target_model: z.string(),
    match_type: matchType,
    priority: z.int(),
    enabled: z.boolean(),
    description: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'ModelMapping' })

export const MappingList = z.object({ mappings: z.array(Mapping), pagination: Pagination })

export const ShownPreview = z
  .object({
    requested_model: z.string(),
    resolved_model: z
      .string()
      .describe('What the name becomes: a model, collection or handle form'),
    matched: z.boolean(),
    mapping_id: z.string().nullable().describe('Null also where the unsaved mapping matched'),
    accessible: z.boolean(),
    provider: z.string().nullable().describe('Who would be asked first'),
    reason: z.string().nullable().describe('The error code that a call would get'),
  })
  .meta({ ref: 'ModelMappingPreview' })
export type ShownPreview = z.output<typeof ShownPreview>
