import { Button, Drawer, Group, Text, UnstyledButton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { chats, chatsKey, chatsQuery, type Chat } from '../automation/queries'
import { Confirm } from '../../components/confirm'
import { FailureScope } from '../../components/query-failure'
import { ResourceList } from '../../components/resource-list'
import { allRows } from '../../api/paging'
import { Moment } from '../../components/moment'
import { formatCount } from '../../format/figures'
import { usd } from '../../format/money'

interface Props {
  /** The id of the open conversation. */
  openId: string | undefined
  onOpen: (id: string) => void
  /** Called when the open conversation was deleted. */
  onDeleted: () => void
  onClose: () => void
}

/** Stored conversations, to continue or to delete. */
export function Chats({ openId, onOpen, onDeleted, onClose }: Props) {
  const query = useQuery(chatsQuery)
  const queries = useQueryClient()
  const [deleting, setDeleting] = useState<Chat>()
  return (
    <Drawer opened onClose={onClose} title="Conversations" position="right">
      <FailureScope>
        <ResourceList
          query={query}
          rows={(all) => allRows(all)}
          plural="conversations"
          empty="Playground conversations are stored here until you delete them."
        >
          {(all) =>
            all.map((one) => (
              <Row
                key={one.id}
                chat={one}
                onOpen={() => {
                  onOpen(one.id)
                  onClose()
                }}
                onDelete={() => setDeleting(one)}
              />
            ))
          }
        </ResourceList>
      </FailureScope>
      {deleting && (
        <Confirm
          question="Delete this conversation?"
          about={`“${deleting.name ?? deleting.modelId}” and all its messages are deleted. Its cost stays in your logs.`}
          label="Delete"
          onConfirm={async () => {
            await chats.delete(deleting.id)
            if (deleting.id === openId) onDeleted()
            await queries.invalidateQueries({ queryKey: chatsKey })
          }}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </Drawer>
  )
}

interface RowProps {
  chat: Chat
  onOpen: () => void
  onDelete: () => void
}

const Row = ({ chat, onOpen, onDelete }: RowProps) => (
  <Group justify="space-between" wrap="nowrap" gap="xs">
    <UnstyledButton onClick={onOpen} miw={0}>
      <Text size="sm" fw={500} truncate>
        {chat.name ?? 'Untitled'}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        {chat.modelId} · {formatCount(chat.messageCount, 'message')} · {usd(chat.totalCost)} ·{' '}
        <Moment at={chat.lastActivityAt ?? chat.createdAt} />
      </Text>
    </UnstyledButton>
    <Button
      size="xs"
      variant="subtle"
      color="red"
      style={{ flexShrink: 0 }}
      onClick={onDelete}
      aria-label={`Delete ${chat.name ?? chat.modelId}`}
    >
      Delete
    </Button>
  </Group>
)
