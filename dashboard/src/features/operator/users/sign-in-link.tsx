import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api, bodyOf } from '../../../api/client'
import { Copy } from '../../../components/copy'
import { NewSecret } from '../../../components/secret-once'
import { useSubmit } from '../../../components/use-submit'
import type { User } from './queries'

/** Creates a link that signs the owner of an account in, and shows it once. */
export function SignInLink({ user: { id, display_name: name } }: { user: User }) {
  const [link, setLink] = useState<string>()
  const { submit, isBusy, error } = useSubmit(async () => {
    const answer = api.POST('/api/admin/users/{id}/sign-in-link', { params: { path: { id } } })
    setLink((await bodyOf(answer)).link)
  })
  return (
    <div>
      <Button variant="default" loading={isBusy} onClick={() => void submit(undefined)}>
        Copy sign-in link
      </Button>
      {error && (
        <Text size="sm" c="red" role="alert">
          {error.message}
        </Text>
      )}
      {link !== undefined && (
        <LinkDialog name={name} link={link} onClose={() => setLink(undefined)} />
      )}
    </div>
  )
}

interface DialogProps {
  name: string
  link: string
  onClose: () => void
}

/** The browser may only copy at a click, so that the link is shown first. */
const LinkDialog = ({ name, link, onClose }: DialogProps) => (
  <Modal opened onClose={onClose} title={`Sign-in link for ${name}`}>
    <Stack gap="sm">
      <Alert color="yellow">
        This link signs in the person who opens it, after the second factor if the account has one.
        Give it to the owner only. It works once, within an hour, and confirms the email address;
        earlier links no longer work.
      </Alert>
      <NewSecret label="Sign-in link" secret={link} isFirst />
      <Group justify="space-between">
        <Copy value={link} label="Copy" />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  </Modal>
)
