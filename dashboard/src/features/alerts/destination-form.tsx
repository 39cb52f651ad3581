import { Checkbox, Group, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { eventNames, events, kindChoices, type Destination } from './destination-queries'
import { api, bodyOf, type Schemas } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'

type CreatedDestination = Schemas['NotificationDestinationWithKey']

interface Fields {
  name: string
  kind: Destination['kind']
  url: string
  routing_key: string
  events: Destination['events']
}

const newDestination: Fields = {
  name: '',
  kind: 'webhook',
  url: '',
  routing_key: '',
  events: [...events],
}

const hints: Readonly<Record<Exclude<Destination['kind'], 'pagerduty'>, string>> = {
  webhook: 'Receives signed JSON, as Standard Webhooks defines it',
  slack: 'The URL of an incoming webhook of Slack',
  teams: 'The URL of a workflow “When a Teams webhook request is received”',
}

interface Props {
  /** Receives the new destination, with its secret if it has one. */
  onCreated: (created: CreatedDestination) => void
  onCancel: () => void
}

/** Creates a destination of notifications. */
export function DestinationForm({ onCreated, onCancel }: Props) {
  const form = useForm<Fields>({
    initialValues: newDestination,
    validate: { events: (chosen) => (chosen.length === 0 ? 'Select an event.' : null) },
  })
  const { kind } = form.values
  const save = async ({ url, routing_key, ...fields }: Fields) => {
    const address = fields.kind === 'pagerduty' ? { routing_key } : { url }
    const body = { ...fields, ...address }
    onCreated(await bodyOf(api.POST('/api/account/notification-destinations', { body })))
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onCancel}>
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label="Kind"
        allowDeselect={false}
        data={kindChoices}
        {...form.getInputProps('kind')}
      />
      {kind === 'pagerduty' ? (
        <TextInput
          label="Integration key"
          description="Of an integration “Events API v2” of your service"
          required
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('routing_key')}
        />
      ) : (
        <TextInput
          label="URL"
          description={hints[kind]}
          required
          type="url"
          maxLength={1000}
          autoComplete="off"
          placeholder="https://"
          {...form.getInputProps('url')}
        />
      )}
      <Checkbox.Group label="Events" {...form.getInputProps('events')}>
        <Group mt="xs">
          {events.map((event) => (
            <Checkbox key={event} value={event} label={eventNames[event]} />
          ))}
        </Group>
      </Checkbox.Group>
    </ResourceForm>
  )
}
