import { Alert, Anchor, Button, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Command } from '../../components/command'
import { Copy } from '../../components/copy'
import { NewSecret } from '../../components/secret-once'
import { connectCommand, gatewaysQuery, isInTheClear, serviceOf, type Gateway } from './queries'
import { pollSoon } from '../../api/polling'
import type { CreatedGateway } from './new-gateway'

interface Props {
  created: CreatedGateway
  onClose: () => void
}

/**
 * The token of a new gateway, shown once, the command to run with it, and the connection status. Only its
 * button closes the dialog, so that a stray click does not lose the token.
 */
export const GatewayToken = ({ created, onClose }: Props) => {
  const address = serviceOf(created.connect_url)
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Gateway ${created.name}`}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Alert color="yellow">Copy the token now and store it safely. It is not shown again.</Alert>
        <Stack gap={6}>
          <NewSecret label="Token" secret={created.token} isFirst />
          <Group>
            <Copy value={created.token} label="Copy token" />
          </Group>
        </Stack>
        <Stack gap={6}>
          <Text size="sm">
            Then run this command on the machine with the models. It finds Ollama, vLLM, LM Studio
            and llama.cpp by itself; others are named with{' '}
            <code style={{ whiteSpace: 'nowrap' }}>--serve</code>.
          </Text>
          <Command
            label="Command"
            text={`export TOLLGATE_GATEWAY_TOKEN=${created.token}\n${connectCommand(address)}`}
          />
          {isInTheClear(address) && (
            <Text size="xs" c="dimmed">
              This service does not use TLS: the token is sent over the network unencrypted.
            </Text>
          )}
        </Stack>
        <Arrival id={created.id} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The connection status of the gateway, polled. */
function Arrival({ id }: { id: string }) {
  const { data: gateways = [] } = useQuery({ ...gatewaysQuery, refetchInterval: pollSoon })
  const gateway = gateways.find((one) => one.id === id)
  const isOnline = gateway?.status === 'online'
  return (
    <Alert color={isOnline ? 'green' : 'gray'} role="status">
      {gateway && isOnline ? <Announced gateway={gateway} /> : <Waiting gateway={gateway} />}
    </Alert>
  )
}

const Waiting = ({ gateway }: { gateway: Gateway | undefined }) => (
  <Group gap="xs" wrap="nowrap" align="flex-start">
    <Loader size="xs" mt={4} aria-hidden />
    <Text size="sm">
      {gateway?.status === 'error'
        ? 'A gateway connected with an incompatible protocol. Check its version.'
        : gateway && gateway.last_heartbeat_at !== null
          ? 'Connected. Waiting for the list of models.'
          : 'Waiting for the gateway to connect. This page updates automatically.'}
    </Text>
  </Group>
)

const Announced = ({ gateway }: { gateway: Gateway }) => (
  <Stack gap={2}>
    <Text size="sm" fw={600}>
      Connected
    </Text>
    <Text size="sm">{announcementOf(gateway)}</Text>
    <Anchor
      size="sm"
      underline="always"
      renderRoot={(props) => <Link to="/gateways/$id" params={{ id: gateway.id }} {...props} />}
    >
      View gateway
    </Anchor>
  </Stack>
)

/** Summarizes what the gateway announced. */
function announcementOf({ version, providers, tool_count: tools }: Gateway): string {
  const served = providers.length === 0 ? 'no models' : `models of ${providers.join(', ')}`
  const run = tools === 0 ? 'no tools' : tools === 1 ? 'one tool' : `${tools} tools`
  return `Version ${version ?? 'unknown'} serves ${served} and ${run}.`
}
