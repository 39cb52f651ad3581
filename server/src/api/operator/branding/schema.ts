import { z } from 'zod'
import { line, trimmed } from '../../../http/fields'
import * as settings from '../../../platform/settings/branding'

const address = z.url({ protocol: /^https?$/ }).max(500)
const color = z.string().regex(/^#[0-9a-f]{6}$/i, { error: 'must be a color such as #1d4ed8.' })

/** The fields that a PUT may change. Source: contract 9.2. */
export const ChangedBranding = z
  .object({
    name: line(100).optional(),
    tagline: trimmed(200).nullish(),
    logo_url: address.nullish(),
    favicon_url: address.nullish(),
    primary_color: color.optional(),
    secondary_color: color.optional(),
    support_email: z.email().max(254).nullish(),
    terms_url: address.nullish(),
    privacy_url: address.nullish(),
  })
  .meta({ ref: 'ChangedBranding' })

export const Branding = settings.Branding.meta({ ref: 'Branding' })
