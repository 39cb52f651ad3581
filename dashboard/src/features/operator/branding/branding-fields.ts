import type { Schemas } from '../../../api/client'

export type Branding = Schemas['Branding']

/** Returns a branding as form fields. */
export const toBrandingFields = (branding: Branding) => ({
  name: branding.name,
  tagline: branding.tagline ?? '',
  logo_url: branding.logo_url ?? '',
  favicon_url: branding.favicon_url ?? '',
  primary_color: branding.primary_color,
  secondary_color: branding.secondary_color,
  support_email: branding.support_email ?? '',
  terms_url: branding.terms_url ?? '',
  privacy_url: branding.privacy_url ?? '',
})

/** The branding as form fields: a missing value is an empty text. */
export type BrandingFields = ReturnType<typeof toBrandingFields>
