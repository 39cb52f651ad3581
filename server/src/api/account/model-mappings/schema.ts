import { z } from 'zod'
import { maxRuns, findReferences, countWildcards } from '../../../catalog/mapping'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { flag } from '../../../http/query'
import { trimmed } from '../../../http/fields'
import { customIssue } from '../../../wire/field-error'
import { isModelName } from '../../../wire/model-id'

const pattern = z
  .string()
  .min(1)
  .max(200)
  .refine((source) => countWildcards(source) <= maxRuns, {
    params: { issue: 'too_many' },
    message: `must contain at most ${maxRuns} wildcards (*).`,
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
  const runs = countWildcards(source_pattern)
  const unknownRun = findReferences(target_model).find((run) => run === 0 || run > runs)
  if (unknownRun !== undefined) {
    const message = `$${unknownRun} does not exist: the pattern has ${runs} wildcards.`
    return customIssue('bad_format', message, ['target_model'])
  }
  if (match_type && match_type !== matchTypeOf(source_pattern)) {
    const message = `must be "wildcard" for a pattern with *, else "exact".`
    return customIssue('conflict', message, ['match_type'])
  }
  return undefined
}

export const matchTypeOf = (source: string): 'exact' | 'wildcard' =>
  countWildcards(source) > 0 ? 'wildcard' : 'exact'

/** A new mapping. Source: contract 7.6. */
export const NewMapping = z
  .object({
    source_pattern: pattern.describe('A model name; `*` matches any run of characters'),
    target_model: target.describe('The model to call instead; `$1` to `$5` insert the matches'),
    match_type: matchType.nullish().describe('Derived from the pattern'),
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
  .meta({ ref: 'NewModelMapping' })
export type NewMapping = z.output<typeof NewMapping>

export const ChangedMapping = z
  .object({
    source_pattern: pattern.optional(),
    target_model: target.optional(),
    match_type: matchType.optional(),
    priority: priority.optional(),
    enabled: z.boolean().optional(),
    description: description.nullish(),
  })
  .meta({ ref: 'ChangedModelMapping' })
export type ChangedMapping = z.output<typeof ChangedMapping>

export const NewPreview = z
  .object({
    model: z.string().min(1).max(256),
    mapping: NewMapping.optional(),
  })
  .meta({ ref: 'NewModelMappingPreview' })
export type NewPreview = z.output<typeof NewPreview>

export const Mapping = z
  .object({
    id: objectId('map'),
    source_pattern: z.string().meta({ examples: ['gpt-*'] }),
    target_model: z.string().meta({ examples: ['openai/gpt-$1'] }),
    match_type: matchType,
    priority: z.int(),
    enabled: z.boolean(),
    description: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'ModelMapping' })

/** The query of the list. */
export const MappingFilter = z.object({
  enabled: flag.optional().describe('Only enabled, or only disabled mappings'),
})

export const MappingList = z.object({ mappings: z.array(Mapping), pagination: Pagination })

export const MappingPreview = z
  .object({
    requested_model: z.string(),
    resolved_model: z
      .string()
      .describe('The resulting name: of a model, a collection, or with a handle'),
    matched: z.boolean(),
    mapping_id: z.string().nullable().describe('Null also where `mapping` of the request matched'),
    accessible: z.boolean(),
    provider: z.string().nullable().describe('The provider of the first candidate'),
    reason: z.string().nullable().describe('The error code of a call'),
  })
  .meta({ ref: 'ModelMappingPreview' })
export type MappingPreview = z.output<typeof MappingPreview>
