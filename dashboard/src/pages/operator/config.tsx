import {
  Button,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { admin, json } from '../../api'
import { Card } from '../../components/card'
import { Confirm } from '../../components/confirm'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import {
  configQuery,
  moneyFields,
  newIn,
  numberGroups,
  type Config,
  type NumberField,
} from '../../operator/config'
import { useSubmit } from '../../submit'

export const ConfigPage = () => (
  <Page
    title="Configuration"
    about="What holds for everybody, from the next request on and on every node within seconds. What is not set here comes from the environment."
  >
    <Loaded query={useQuery(configQuery)}>{(config) => <ConfigForm config={config} />}</Loaded>
  </Page>
)

/** What a change takes away, for the question before it; empty where it takes nothing. */
const lossesOf = (now: Config, before: Config): string[] => [
  ...(now.retention_days < before.retention_days
    ? ['Usage and request logs that are older are deleted within the hour, for good.']
    : []),
  ...(before.platform_connections && !now.platform_connections
    ? ['Nobody is served by connections of the platform any more.']
    : []),
]

const numberPaths = [...moneyFields, ...numberGroups.flatMap(({ fields }) => fields)].map(
  ({ path }) => [path, true] as const,
)

type Form = UseFormReturnType<Config>

function ConfigForm({ config }: { config: Config }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: config })
  const [asked, setAsked] = useState<Config>()
  // A refused field within a group is told at its place too.
  const fields = {
    values: { ...form.values, ...Object.fromEntries(numberPaths) },
    setFieldError: form.setFieldError,
  }
  const save = async (now: Config) => {
    const kept = await (await admin.config.$put(undefined, json(newIn(now, config)))).json()
    queries.setQueryData(configQuery.queryKey, kept)
    form.setInitialValues(kept)
    form.setValues(kept)
    notifications.show({ message: 'Saved.' })
  }
  const { submit, isBusy, error } = useSubmit(save, fields)
  const check = (now: Config) => {
    if (lossesOf(now, config).length > 0) setAsked(now)
    else void submit(now)
  }
  return (
    <form onSubmit={form.onSubmit(check)}>
      <Stack>
        <Problem error={error} />
        <Access form={form} />
        <Numbers title="Money" fields={moneyFields} form={form} />
        <Unanswered form={form} />
        {numberGroups.map((group) => (
          <Numbers key={group.title} {...group} form={form} />
        ))}
        <Keeping form={form} />
        <Addresses form={form} />
        <Group>
          <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
            Save
          </Button>
          <Button variant="default" disabled={!form.isDirty()} onClick={form.reset}>
            Undo changes
          </Button>
        </Group>
      </Stack>
      {asked && (
        <Confirm
          question="Save these changes?"
          about={lossesOf(asked, config).join(' ')}
          label="Save them"
          cancel="Cancel"
          onConfirm={() => save(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </form>
  )
}

const Access = ({ form }: { form: Form }) => (
  <Card title="Who may come">
    <Select
      label="Sign-up"
      description="Who makes an account by themselves; operators always can"
      maw={360}
      allowDeselect={false}
      data={[
        { value: 'open', label: 'Anybody' },
        { value: 'invite', label: 'Who was invited' },
        { value: 'closed', label: 'Nobody' },
      ]}
      {...form.getInputProps('sign_up')}
    />
    <Switch
      label="Connections of the platform serve everybody"
      description="Without them accounts are served by their own connections and those of their organizations"
      {...form.getInputProps('platform_connections', { type: 'checkbox' })}
    />
  </Card>
)

const Unanswered = ({ form }: { form: Form }) => (
  <Card title="Requests without an answer">
    <Select
      label="A client that disconnects, or a time-out, after the provider was sent the request"
      description="Providers bill the prompt at least; the tokens count in rate limits either way"
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
  percent: { suffix: ' %', decimalScale: 2 },
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
  <Card title="What is kept">
    <NumberInput
      label="Days that usage and request logs are kept"
      description="The ledger is kept for ever"
      maw={360}
      required
      min={2}
      max={3650}
      allowDecimal={false}
      {...form.getInputProps('retention_days')}
    />
    <Switch
      label="Accounts may keep what is asked and answered"
      description="In the details of their request logs; each decides for itself"
      {...form.getInputProps('log_bodies', { type: 'checkbox' })}
    />
  </Card>
)

const Addresses = ({ form }: { form: Form }) => (
  <Card title="Addresses">
    <TagsInput
      label="Origins where a checkout may return to"
      description="Such as https://app.example.com, beside this service itself; Enter adds one"
      {...form.getInputProps('allowed_return_origins')}
    />
    <TagsInput
      label="Private networks that customers' connections may lead to"
      description="Such as 10.0.0.0/8; others than public addresses are refused without. Whoever may add connections reaches what is there."
      {...form.getInputProps('allowed_private_networks')}
    />
  </Card>
)
