import { z } from 'zod'
import { pageFields, Pagination } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { line, trimmed } from '../../../http/fields'
import { dialects, RelayOptions } from '../../../providers/provider'

const address = z.url({ protocol: /^https?$/ }).max(500)
const webAddress = z.url({ protocol: /^https$/ }).max(500)

const fields = {
  name: line(100),
  base_url: address.transform((url) => url.replace(/\/+$/, '')).nullish(),
  /** The header that carries the credential; for `authorization` it is preceded by `Bearer `. */
  auth: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be the name of a header.')
    .optional(),
  keyless: z.boolean().optional(),
  description: trimmed(500).nullish(),
  website: webAddress.nullish(),
  logo_url: webAddress.nullish(),
  enabled: z.boolean().optional(),
  options: RelayOptions.optional(),
}

/** A new provider. Source: contract 9.2. */
export const NewProvider = z
  .object({
    key: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,39}$/, 'must be like "my-provider".'),
    adapter: z.enum(dialects).exclude(['sandbox']),
    ...fields,
  })
  .meta({ ref: 'NewProvider' })
export type NewProvider = z.output<typeof NewProvider>

export const ChangedProvider = z
  .object({ ...fields, name: fields.name.optional() })
  .meta({ ref: 'ChangedProvider' })
export type ChangedProvider = z.output<typeof ChangedProvider>

export const ProviderFilter = z.object({
  search: searchText('Text in the key or the name'),
  ...pageFields,
})

/** A provider as operators see it: one that they added, or a built-in one. */
export const AnsweredProvider = z
  .object({
    id: z.string().describe('The key, if it is built in.'),
    key: z.string(),
    name: z.string(),
    adapter: z.string(),
    base_url: z.string().nullable(),
    auth: z.string(),
    keyless: z.boolean(),
    description: z.string().nullable(),
    website: z.string().nullable(),
    logo_url: z.string().nullable(),
    enabled: z.boolean(),
    options: z.record(z.string(), z.unknown()),
    built_in: z
      .boolean()
      .describe('Part of Tollgate: it cannot be changed, and its times are null.'),
    created_at: z.iso.datetime().nullable(),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'Provider' })
export type AnsweredProvider = z.output<typeof AnsweredProvider>

export const ProviderList = z
  .object({ providers: z.array(AnsweredProvider), pagination: Pagination })
  .meta({ ref: 'ProviderList' })
