import { z } from 'zod'
import { Pagination } from '../../http/documentation'

const text = z.string().nullable()

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
            "How the platform's own connections fared in the last minutes; operational where nothing is known against it.",
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
    kind: text.describe('`upstream`, or what kind of provider the organization calls itself.'),
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
          .describe('Of a self-hosted gateway its state; else whether a connection works.'),
        region: text,
        models: z.array(z.string()).describe('The first 100, by id.'),
        model_count: z.int(),
        avg_latency_ms: z.number().nullable().describe('Of the last 24 hours.'),
        uptime_percentage: z
          .number()
          .nullable()
          .describe(
            'Of the last 24 hours: of a self-hosted gateway the time in which it was online, else the requests that its providers did not fail.',
          ),
      }),
    ),
    pagination: Pagination,
  })
  .meta({ ref: 'InferenceServers' })

export const ProviderProfiles = z
  .object({ provider_profiles: z.array(Profile), pagination: Pagination })
  .meta({ ref: 'ProviderProfiles' })
