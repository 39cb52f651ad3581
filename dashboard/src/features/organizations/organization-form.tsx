import { ResourceForm } from '../../components/resource-form'
import {
  NumberInput,
  type NumberInputProps,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { Schemas } from '../../api/client'
import { changedFields } from '../../components/changed-fields'
import type { Organization } from './queries'

/** The settings that both the organization's owner and the operator may change. */
type Settings = Pick<
  Organization,
  | 'name'
  | 'slug'
  | 'description'
  | 'website'
  | 'billing_email'
  | 'is_public'
  | 'allow_join_requests'
  | 'auto_approve_requests'
  | 'auto_approve_domains'
  | 'rate_limit_requests_per_minute'
  | 'rate_limit_tokens_per_minute'
  | 'rate_limit_images_per_minute'
  | 'rate_limit_audio_seconds_per_minute'
  | 'max_concurrent_requests'
  | 'monthly_spend_limit'
  | 'default_member_spending_limit'
  | 'audit_retention_months'
>

/** The form fields of an organization; empty fields are null in the API. */
const fieldsOf = (one: Settings) => ({
  name: one.name,
  slug: one.slug,
  description: one.description ?? '',
  website: one.website ?? '',
  billing_email: one.billing_email,
  is_public: one.is_public,
  allow_join_requests: one.allow_join_requests,
  auto_approve_requests: one.auto_approve_requests,
  auto_approve_domains: one.auto_approve_domains,
  rate_limit_requests_per_minute: one.rate_limit_requests_per_minute,
  rate_limit_tokens_per_minute: one.rate_limit_tokens_per_minute,
  rate_limit_images_per_minute: one.rate_limit_images_per_minute ?? ('' as const),
  rate_limit_audio_seconds_per_minute: one.rate_limit_audio_seconds_per_minute ?? ('' as const),
  max_concurrent_requests: one.max_concurrent_requests,
  monthly_spend_limit: one.monthly_spend_limit ?? ('' as const),
  default_member_spending_limit: one.default_member_spending_limit ?? ('' as const),
  audit_retention_months: one.audit_retention_months ?? ('' as const),
})

type Fields = ReturnType<typeof fieldsOf>
type Form = UseFormReturnType<Fields>

interface Props {
  organization: Settings
  /** Whether the short name may be changed. */
  canRename: boolean
  /** Saves the changed fields and returns the updated settings. */
  onSave: (changes: Schemas['ChangedOrganization']) => Promise<Settings>
}

/** The organization's profile, access settings and limits. */
export function OrganizationForm({ organization, canRename, onSave }: Props) {
  const before = fieldsOf(organization)
  const form = useForm({ initialValues: before })
  const save = async (fields: Fields) => {
    const saved = fieldsOf(
      await onSave(changedFields<Schemas['ChangedOrganization']>(fields, before)),
    )
    form.setInitialValues(saved)
    form.setValues(saved)
    notifications.show({ message: 'Saved.' })
  }
  return (
    <ResourceForm form={form} save={save} label="Save">
      <Description form={form} canRename={canRename} />
      <Joining form={form} />
      <Limits form={form} />
    </ResourceForm>
  )
}

const Description = ({ form, canRename }: { form: Form; canRename: boolean }) => (
  <Paper withBorder p="lg">
    <Stack gap="sm">
      <Title order={2} size="h4">
        Description
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <TextInput
          label="Short name"
          description="The prefix of its model names"
          readOnly={!canRename}
          {...form.getInputProps('slug')}
        />
        <TextInput label="Website" type="url" {...form.getInputProps('website')} />
        <TextInput
          label="Billing email"
          description="Receives billing emails"
          type="email"
          {...form.getInputProps('billing_email')}
        />
      </SimpleGrid>
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxLength={1000}
        {...form.getInputProps('description')}
      />
    </Stack>
  </Paper>
)

const Joining = ({ form }: { form: Form }) => (
  <Paper withBorder p="lg">
    <Stack gap="sm">
      <Title order={2} size="h4">
        Visibility and access
      </Title>
      <Switch
        label="Public: anyone can see the organization and its models"
        {...form.getInputProps('is_public', { type: 'checkbox' })}
      />
      <Switch
        label="Allow requests to join, if visible"
        {...form.getInputProps('allow_join_requests', { type: 'checkbox' })}
      />
      <Switch
        label="Approve requests to join automatically"
        {...form.getInputProps('auto_approve_requests', { type: 'checkbox' })}
      />
      <TagsInput
        label="Domains approved automatically"
        description="Email domains such as example.com; at most 20"
        maxTags={20}
        {...form.getInputProps('auto_approve_domains')}
      />
    </Stack>
  </Paper>
)

/** The limits per minute that an organization may leave to its plan. */
const mediaLimits = [
  ['rate_limit_images_per_minute', 'Images per minute'],
  ['rate_limit_audio_seconds_per_minute', 'Seconds of sound per minute'],
] as const

const Limits = ({ form }: { form: Form }) => (
  <Paper withBorder p="lg">
    <Stack gap="sm">
      <Title order={2} size="h4">
        Limits
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
        <NumberInput
          label="Requests per minute"
          min={1}
          allowDecimal={false}
          thousandSeparator
          required
          {...form.getInputProps('rate_limit_requests_per_minute')}
        />
        <NumberInput
          label="Tokens per minute"
          min={1}
          allowDecimal={false}
          thousandSeparator
          required
          {...form.getInputProps('rate_limit_tokens_per_minute')}
        />
        {mediaLimits.map(([field, label]) => (
          <NumberInput
            key={field}
            label={label}
            description="Empty for the limit of the plan"
            min={1}
            allowDecimal={false}
            {...form.getInputProps(field)}
          />
        ))}
        <NumberInput
          label="Concurrent requests"
          min={1}
          allowDecimal={false}
          required
          {...form.getInputProps('max_concurrent_requests')}
        />
        <NumberInput
          label="Monthly spending limit"
          description="USD, all members together; empty for no limit"
          min={0}
          decimalScale={2}
          prefix="$"
          {...form.getInputProps('monthly_spend_limit')}
        />
        <MemberLimit {...form.getInputProps('default_member_spending_limit')} />
        <AuditRetention {...form.getInputProps('audit_retention_months')} />
      </SimpleGrid>
    </Stack>
  </Paper>
)

const AuditRetention = (props: NumberInputProps) => (
  <NumberInput
    label="Retention of the audit log"
    description="Months, 3 to 120; empty for the default of the service"
    min={3}
    max={120}
    allowDecimal={false}
    {...props}
  />
)

const MemberLimit = (props: NumberInputProps) => (
  <NumberInput
    label="Monthly spending limit per member"
    description="USD, for members without their own limit; empty for no limit"
    min={0}
    decimalScale={2}
    prefix="$"
    {...props}
  />
)
