import { Button, NumberInput, Select, SimpleGrid, Switch, TagsInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../../api/client'
import { Card } from '../../../components/card'
import { Confirm } from '../../../components/confirm'
import { Loaded } from '../../../components/loaded'
import { Page } from '../../../components/page'
import { ResourceForm } from '../../../components/resource-form'
import {
  configQuery,
  moneyFields,
  newIn,
  numberGroups,
  type Config,
  type NumberField,
} from './queries'

export const ConfigPage = () => (
  <Page
    title="Configuration"
    about="Settings for all accounts. Changes apply from the next request, on every node within seconds. Settings not changed here come from the environment."
  >
    <Loaded query={useQuery(configQuery)}>{(config) => <ConfigForm config={config} />}</Loaded>
  </Page>
)

/** The data and access that a change removes, for the confirmation; empty when it removes nothing. */
const lossesOf = (now: Config, before: Config): string[] => [
  ...(now.retention_days < before.retention_days
    ? ['Older usage and request logs are permanently deleted within the hour.']
    : []),
  ...(now.stored_megabytes_per_account < before.stored_megabytes_per_account
    ? ['Accounts that have stored more lose their oldest responses and conversations.']
    : []),
  ...(before.platform_connections && !now.platform_connections
    ? ['Platform connections are no longer available to any account.']
    : []),
]

const numberPaths = [...moneyFields, ...numberGroups.flatMap(({ fields }) => fields)].map(
  ({ path }) => [path, true] as const,
)

type Form = UseFormReturnType<Config>

function ConfigForm({ config }: { config: Config }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: config })
  const [dialog, setDialog] = useState<Config>()
  // An error within a group is shown at its field too.
  const fields = {
    values: { ...form.values, ...Object.fromEntries(numberPaths) },
    setFieldError: form.setFieldError,
  }
  const save = async (now: Config) => {
    const saved = await bodyOf(api.PUT('/api/admin/config', { body: newIn(now, config) }))
    queries.setQueryData(configQuery.queryKey, saved)
    form.setInitialValues(saved)
    form.setValues(saved)
    notifications.show({ message: 'Saved.' })
  }
  const saveOrConfirm = async (now: Config) => {
    if (lossesOf(now, config).length > 0) setDialog(now)
    else await save(now)
  }
  const discard = (
    <Button variant="default" disabled={!form.isDirty()} onClick={form.reset}>
      Discard changes
    </Button>
  )
  return (
    <>
      <ResourceForm
        form={form}
        save={saveOrConfirm}
        label="Save"
        errorFields={fields}
        actions={discard}
      >
        <Access form={form} />
        <Numbers title="Money" fields={moneyFields} form={form} />
        <Unanswered form={form} />
        {numberGroups.map((group) => (
          <Numbers key={group.title} {...group} form={form} />
        ))}
        <Keeping form={form} />
        <Addresses form={form} />
      </ResourceForm>
      {dialog && (
        <Confirm
          question="Save these changes?"
          about={lossesOf(dialog, config).join(' ')}
          label="Save changes"
          cancel="Cancel"
          onConfirm={() => save(dialog)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}

const Access = ({ form }: { form: Form }) => (
  <Card title="Access">
    <Select
      label="Sign-up"
      description="Who can create an account; operators always can"
      maw={360}
      allowDeselect={false}
      data={[
        { value: 'open', label: 'Anyone' },
        { value: 'invite', label: 'Invited people only' },
        { value: 'closed', label: 'No one' },
      ]}
      {...form.getInputProps('sign_up')}
    />
    <Switch
      label="Platform connections are available to all accounts"
      description="If disabled, accounts can use only their own connections and those of their organizations"
      {...form.getInputProps('platform_connections', { type: 'checkbox' })}
    />
    <Switch
      label="Model names need no provider"
      description="Chat completions, completions, embeddings, moderations and rerank accept gpt-4o for openai/gpt-4o; accounts may choose otherwise"
      {...form.getInputProps('bare_model_names', { type: 'checkbox' })}
    />
  </Card>
)

const Unanswered = ({ form }: { form: Form }) => (
  <Card title="Unanswered requests">
    <Select
      label="Client disconnect or timeout after the request was sent to the provider"
      description="Providers bill at least the prompt; the tokens count towards rate limits either way"
      maw={360}
      allowDeselect={false}
      data={[
        { value: 'charge', label: 'Charge what the provider bills' },
        { value: 'waive', label: 'Charge nothing' },
      ]}
      {...form.getInputProps('unanswered_requests')}
    />
  </Card>
)

const units = {
  usd: { prefix: '$', decimalScale: 9 },
  percent: { suffix: '%', decimalScale: 2 },
  seconds: { suffix: ' s', decimalScale: 3 },
} as const

interface NumbersProps {
  title: string
  fields: readonly NumberField[]
  form: Form
}

const Numbers = ({ title, fields, form }: NumbersProps) => (
  <Card title={title}>
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
      {fields.map(({ path, label, about, unit, min, max }) => (
        <NumberInput
          key={path}
          label={label}
          description={about}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          required
          thousandSeparator
          min={min}
          {...(max !== undefined && { max })}
          {...(unit ? units[unit] : { decimalScale: 0 })}
          {...form.getInputProps(path)}
        />
      ))}
    </SimpleGrid>
  </Card>
)

const Keeping = ({ form }: { form: Form }) => (
  <Card title="Data retention">
    <NumberInput
      label="Retention of usage and request logs, in days"
      description="The ledger is saved permanently"
      maw={360}
      required
      min={2}
      max={3650}
      allowDecimal={false}
      {...form.getInputProps('retention_days')}
    />
    <NumberInput
      label="Stored data per account, in MB"
      description="Responses, conversations, prompts, sessions, logged bodies; the oldest responses and conversations make room"
      maw={360}
      required
      min={128}
      max={1_048_576}
      allowDecimal={false}
      {...form.getInputProps('stored_megabytes_per_account')}
    />
    <Switch
      label="Allow accounts to store request and response bodies"
      description="In the details of their request logs; each account decides"
      {...form.getInputProps('log_bodies', { type: 'checkbox' })}
    />
  </Card>
)

const Addresses = ({ form }: { form: Form }) => (
  <Card title="Addresses">
    <TagsInput
      label="Allowed checkout return origins"
      description="For example https://app.example.com; this service is always allowed. Press Enter after each origin"
      {...form.getInputProps('allowed_return_origins')}
    />
    <TagsInput
      label="Private networks allowed for customers' connections"
      description="For example 10.0.0.0/8; without an entry, only public addresses are allowed. Every account that can add connections can reach these networks."
      {...form.getInputProps('allowed_private_networks')}
    />
  </Card>
)
