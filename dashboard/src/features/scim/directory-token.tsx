import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { Command } from '../../components/command'
import { Copy } from '../../components/copy'
import { NewSecret } from '../../components/secret-once'
import type { DirectoryWithToken } from './queries'

interface Props {
  directory: DirectoryWithToken
  onClose: () => void
}

/** The token of a directory, shown once. Only its button closes the dialog, so that a stray click does not lose it. */
export const DirectoryToken = ({ directory: { name, token, scim_url }, onClose }: Props) => (
  <Modal
    opened
    onClose={onClose}
    title={`Directory ${name}`}
    size="lg"
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
    <Stack gap="md">
      <Alert color="yellow">Copy the token now and store it safely. It is not shown again.</Alert>
      <Stack gap={6}>
        <NewSecret label="Token" secret={token} isFirst />
        <Group>
          <Copy value={token} label="Copy token" />
        </Group>
      </Stack>
      <Command label="Base URL" text={scim_url} />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  </Modal>
)
