import { ResourceForm } from '../../components/resource-form'
import {
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
  useMantineColorScheme,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, bodyOf } from '../../api/client'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import { organizationsQuery } from '../organizations/queries'
import { sessionQuery } from '../../api/session'
import { useSubmit } from '../../components/use-submit'
import { Handle } from './handle'
import { PersonalData } from './personal-data'
import { settingsQuery, type Settings } from './queries'

export function SettingsPage() {
  const query = useQuery(settingsQuery)
  return (
    <Page title="Settings" about="Profile, billing, logs and appearance.">
      <Loaded query={query}>
        {(settings) => (
          <>
            <Profile settings={settings} />
            <Handle />
            <Paying settings={settings} />
            <Logging settings={settings} />
            <ModelNames settings={settings} />
            <PersonalData email={settings.email} />
          </>
        )}
      </Loaded>
      <Appearance />
    </Page>
  )
}

const Card = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper withBorder p="lg">
    <Stack gap="sm" maw={520}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  </Paper>
)

/** Saves settings and shows the result. */
function useChange() {
  const queries = useQueryClient()
  return async (fields: object) => {
    const answer = await bodyOf(api.PUT('/api/account/settings', { body: fields }))
    queries.setQueryData(settingsQuery.queryKey, answer)
    notifications.show({ message: 'Saved.' })
  }
}

function Profile({ settings }: { settings: Settings }) {
  const change = useChange()
  const queries = useQueryClient()
  const form = useForm({ initialValues: { display_name: settings.display_name } })
  const save = async (fields: typeof form.values) => {
    await change(fields)
    form.resetDirty()
    await Promise.all([
      queries.invalidateQueries(sessionQuery),
      queries.invalidateQueries(organizationsQuery),
    ])
  }
  return (
    <Card title="Profile">
      <ResourceForm form={form} save={save} label="Save name">
        <TextInput
          label="Name"
          description="Visible to members of your organizations and with your ratings"
          required
          maxLength={100}
          autoComplete="name"
          {...form.getInputProps('display_name')}
        />
        <Text size="sm" c="dimmed">
          You sign in as {settings.email}. Your plan: {settings.plan.name}.
        </Text>
      </ResourceForm>
    </Card>
  )
}

const personal = 'personal'
const none = 'none'

function Paying({ settings }: { settings: Settings }) {
  const change = useChange()
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const active = organizations.filter(({ status }) => status === 'active')
  const form = useForm({
    initialValues: {
      funding_organization_id: settings.funding_organization_id ?? personal,
      primary_organization_id: settings.primary_organization_id ?? none,
    },
  })
  const save = async (fields: typeof form.values) => {
    const { funding_organization_id: payer, primary_organization_id: primary } = fields
    await change({
      funding_source: payer === personal ? 'personal' : 'organization',
      funding_organization_id: payer === personal ? null : payer,
      primary_organization_id: primary === none ? null : primary,
    })
    form.resetDirty()
  }
  const choices = active.map(({ id, name }) => ({ value: id, label: name }))
  // A viewer cannot make requests.
  const payers = active.flatMap(({ id, name, role }) =>
    role === 'viewer' ? [] : [{ value: id, label: name }],
  )
  return (
    <Card title="Billing">
      <ResourceForm form={form} save={save} label="Save">
        <Select
          label="Bill requests to"
          description="An organization's pool pays only while you are a member"
          data={[{ value: personal, label: 'Personal balance' }, ...payers]}
          allowDeselect={false}
          {...form.getInputProps('funding_organization_id')}
        />
        <Select
          label="Primary organization"
          description="Its connections are tried before those of your other organizations"
          data={[{ value: none, label: 'None' }, ...choices]}
          allowDeselect={false}
          {...form.getInputProps('primary_organization_id')}
        />
      </ResourceForm>
    </Card>
  )
}

function Logging({ settings }: { settings: Settings }) {
  const change = useChange()
  const { submit, isBusy, error } = useSubmit(change)
  return (
    <Card title="Logs">
      <Problem error={error} />
      <Switch
        label="Store request and response bodies"
        description="In the details of your request logs, for the same retention period, if the operator allows it. Secrets are redacted."
        checked={settings.log_bodies}
        disabled={isBusy}
        onChange={(event) => void submit({ log_bodies: event.currentTarget.checked })}
      />
    </Card>
  )
}

const bareNames = [
  { value: 'service', label: 'As the service is configured' },
  { value: 'yes', label: 'Accept gpt-4o for openai/gpt-4o' },
  { value: 'no', label: 'Require the provider' },
]

function bareNamesOf(chosen: boolean | null) {
  if (chosen === null) return 'service'
  return chosen ? 'yes' : 'no'
}

function ModelNames({ settings: { bare_model_names: chosen } }: { settings: Settings }) {
  const change = useChange()
  const { submit, isBusy, error } = useSubmit(change)
  return (
    <Card title="Model names">
      <Problem error={error} />
      <Select
        label="Names without a provider"
        description="On chat completions, completions, embeddings, moderations, rerank, speech and images, where exactly one maker lists the name"
        data={bareNames}
        allowDeselect={false}
        value={bareNamesOf(chosen)}
        disabled={isBusy}
        onChange={(value) =>
          void submit({ bare_model_names: value === 'service' ? null : value === 'yes' })
        }
      />
    </Card>
  )
}

const schemes = [
  { value: 'auto', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Card title="Appearance">
      <SegmentedControl
        aria-label="Theme"
        data={[...schemes]}
        value={colorScheme}
        onChange={setColorScheme}
      />
      <Text size="xs" c="dimmed">
        Stored in this browser.
      </Text>
    </Card>
  )
}
