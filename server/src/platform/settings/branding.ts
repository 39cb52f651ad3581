import { sql, type Kysely } from 'kysely'
import { z } from 'zod'
import { CachedValue } from '../cached-value'
import type { Schema } from '../db/schema'

const text = z.string().nullable()

/** The branding of the installation. Source: contract 9.1. */
export const Branding = z.object({
  name: z.string(),
  tagline: text,
  logo_url: text,
  favicon_url: text,
  primary_color: z.string(),
  secondary_color: z.string(),
  support_email: text,
  terms_url: text,
  privacy_url: text,
})
export type Branding = z.output<typeof Branding>

const defaults: Branding = {
  name: 'Tollgate',
  tagline: null,
  logo_url: null,
  favicon_url: null,
  primary_color: '#1d4ed8',
  secondary_color: '#64748b',
  support_email: null,
  terms_url: null,
  privacy_url: null,
}

/** The longest that a change by another node goes unnoticed. */
const keepMs = 3000

/** The store of the branding; a damaged value is replaced by its default. */
export interface BrandingStore {
  get: () => Promise<Branding>
  /** Resolves with the whole branding. */
  change: (fields: Partial<Branding>) => Promise<Branding>
}

export function createBrandingStore(db: Kysely<Schema>): BrandingStore {
  const cached = new CachedValue({ read: () => read(db), keepMs })
  return {
    get: () => cached.get(),
    async change(fields) {
      const added = JSON.stringify(fields)
      await db
        .updateTable('branding')
        .set({ fields: sql`fields || ${added}::jsonb`, updated_at: new Date() })
        .execute()
      cached.invalidate()
      return cached.get()
    },
  }
}

async function read(db: Kysely<Schema>): Promise<Branding> {
  const row = await db.selectFrom('branding').select('fields').executeTakeFirst()
  const stored = Object.entries(row?.fields ?? {}).filter(([name, value]) => {
    const field = Object.entries(Branding.shape).find(([fieldName]) => fieldName === name)
    return field?.[1].safeParse(value).success === true
  })
  return Branding.parse({ ...defaults, ...Object.fromEntries(stored) })
}
