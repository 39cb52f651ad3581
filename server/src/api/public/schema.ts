import { z } from 'zod'
import { pageFields, Pagination } from '../../http/paging'
import { searchText } from '../../http/query'

const text = z.string().nullable()

/** The query of a list. */
export const PublicFilter = z.object({
  search: searchText('Text in the name or the description'),
  ...pageFields,
})

export const PublicProviders = z
  .object({
    providers: z.array(
      z.object({
        id: z.string(),
        key: z.string(),
        name: z.string(),
        description: text,
        website: text,
        logo_url: text,
        endpoint_url: text.describe("The provider's own public address."),
        model_count: z.int(),
        supports_streaming: z.boolean(),
        status: z
          .enum(['operational', 'degraded', 'down'])
          .describe(
            "Health of the platform's connections in the last five minutes; `operational` without any failure.",
          ),
      }),
    ),
  })
  .meta({ ref: 'PublicProviders' })

export const PublicConfiguration = z
  .object({
    name: z.string(),
    version: z.string(),
    base_url: z.string(),
    currency: z.literal('USD'),
    minimum_balance: z.number(),
    low_balance_threshold: z.number(),
    auth: z.object({
      password: z.boolean(),
      oauth_providers: z.array(z.string()),
      identity_provider: z
        .object({
          name: z.string(),
          protocol: z
            .enum(['oidc', 'saml'])
            .describe('OpenID Connect or SAML 2.0: the `provider` of a sign-in by it.'),
        })
        .nullable()
        .describe('The identity provider that signs accounts in.'),
      sign_up: z.enum(['open', 'invite', 'closed']),
    }),
    features: z.record(z.string(), z.boolean()),
    limits: z.object({
      request_timeout_seconds: z.number(),
      default_rpm: z.int().nullable(),
      default_tpm: z.int().nullable(),
      default_concurrent: z.int().nullable(),
    }),
    alert_types: z.array(z.string()),
    alert_periods: z.array(z.string()),
    notification_channels: z.array(z.string()),
  })
  .meta({ ref: 'PublicConfiguration' })

const organization = {
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  description: text,
  website: text,
  member_count: z.int(),
  allow_join_requests: z.boolean(),
  created_at: z.iso.datetime(),
}

const Profile = z
  .object({
    id: z.string(),
    provider_key: text,
    organization_slug: text,
    display_name: z.string(),
    description: text,
    website: text,
    logo_url: text,
    kind: text.describe('`upstream`, or the provider kind of the organization.'),
    model_count: z.int(),
    rating: z.number().nullable().describe('The mean over all ratings of its models.'),
  })
  .meta({ ref: 'ProviderProfile' })

export const PublicOrganizations = z
  .object({ organizations: z.array(z.object(organization)), pagination: Pagination })
  .meta({ ref: 'PublicOrganizations' })

export const PublicOrganization = z
  .object({
    ...organization,
    models: z.array(z.object({ id: z.string(), billing_mode: z.string() })),
    provider_profile: Profile.nullable(),
  })
  .meta({ ref: 'PublicOrganization' })

export const InferenceServers = z
  .object({
    inference_servers: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        organization: z.object({ name: z.string(), slug: z.string() }),
        gateway_type: z.literal([2, 3]),
        status: z
          .enum(['online', 'starting', 'offline', 'error'])
          .describe('State of the self-hosted gateway, or of the connection.'),
        region: text,
        models: z.array(z.string()).describe('The first 100, by id.'),
        model_count: z.int(),
        avg_latency_ms: z.number().nullable().describe('Of the last 24 hours.'),
        uptime_percentage: z
          .number()
          .nullable()
          .describe(
            'Of the last 24 hours: the time that a self-hosted gateway was online, or the share of requests that its providers answered.',
          ),
      }),
    ),
    pagination: Pagination,
  })
  .meta({ ref: 'InferenceServers' })

export const ProviderProfiles = z
  .object({ provider_profiles: z.array(Profile), pagination: Pagination })
  .meta({ ref: 'ProviderProfiles' })
