import { Checkbox, ScrollArea, Select, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { gatewaysQuery, type Gateway } from '../gateways/queries'
import { pollSoon } from '../../api/polling'
import { organizationsQuery } from '../organizations/queries'
import { chatTypes, usableGateways, type ToolFields } from './session-tools'

interface Props<Fields> {
  form: UseFormReturnType<Fields>
  /** The label of the option that allows all tools. */
  all?: string
}

const allTools = 'All tools, including tools added later'

/** The session's type, gateway and allowed tools. */
export function SessionToolFields<Fields extends ToolFields>({
  form,
  all = allTools,
}: Props<Fields>) {
  const { sessionType, gatewayId } = form.values
  const { data: gateways } = useQuery({ ...gatewaysQuery, refetchInterval: pollSoon })
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const usable = usableGateways(gateways ?? [], organizations)
  const gateway = usable.find(({ id }) => id === gatewayId)
  return (
    <>
      <Select
        label="Type"
        description="Users write the messages of a chat, programs those of an automation."
        allowDeselect={false}
        data={chatTypes}
        {...form.getInputProps('sessionType')}
      />
      {sessionType !== 'chat' && (
        <Select
          label="Gateway"
          description="Its tools run on the gateway's machine. The gateway must be online."
          placeholder={gateways && usable.length === 0 ? 'No gateways yet' : 'Select a gateway'}
          required
          data={usable.map(({ id, name, status, scope }) => ({
            value: id,
            label: `${name} (${scope === 'organization' ? 'organization, ' : ''}${status})`,
            disabled: status !== 'online',
          }))}
          {...form.getInputProps('gatewayId')}
        />
      )}
      {sessionType !== 'chat' && gateway && <Allowed form={form} all={all} gateway={gateway} />}
    </>
  )
}

interface AllowedProps<Fields> extends Required<Props<Fields>> {
  gateway: Gateway
}

function Allowed<Fields extends ToolFields>(props: AllowedProps<Fields>) {
  const {
    form,
    all,
    gateway: { tools },
  } = props
  if (tools.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        This gateway has no tools yet. The session uses the tools it announces later.
      </Text>
    )
  }
  return (
    <Stack gap="xs">
      <Checkbox label={all} {...form.getInputProps('hasAllTools', { type: 'checkbox' })} />
      {!form.values.hasAllTools && (
        <Checkbox.Group label="Allowed tools" {...form.getInputProps('enabledTools')}>
          <ScrollArea.Autosize mah={240} mt={4} viewportProps={{ tabIndex: -1 }}>
            <Stack gap="xs" p={2}>
              {tools.map(({ name, description }) => (
                <Checkbox key={name} value={name} label={name} description={description} />
              ))}
            </Stack>
          </ScrollArea.Autosize>
        </Checkbox.Group>
      )}
    </Stack>
  )
}
