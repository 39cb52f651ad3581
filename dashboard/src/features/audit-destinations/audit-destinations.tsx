import { Button, Group, Modal, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { AuditDestinationTable } from './audit-destination-table'
import { NewAuditDestination } from './new-audit-destination'
import { auditDestinationsQuery, destinationsKey } from './queries'
import { allRows } from '../../api/paging'
import { Card } from '../../components/card'
import { ReadOnlyForms } from '../../components/read-only-forms'
import { ResourceList } from '../../components/resource-list'
import { KeySecret } from '../keys/key-secret'

/** The signing secret of a webhook, shown once. */
interface Secret {
  name: string
  secret: string
}

interface Props {
  /** Undefined for the destinations of the installation. */
  organizationId?: string
  about: string
}

/** The destinations of an audit log. */
export function AuditDestinations({ organizationId, about }: Props) {
  const query = useQuery(auditDestinationsQuery(organizationId))
  const queries = useQueryClient()
  const isReadOnly = useContext(ReadOnlyForms)
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<Secret>()
  const showSecret = (given: { name: string; secret: string | null }) => {
    if (given.secret !== null) setSecret({ name: given.name, secret: given.secret })
  }
  return (
    <Card title="Destinations">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed">
          {about}
        </Text>
        {!isReadOnly && (
          <Button variant="default" onClick={() => setCreating(true)}>
            New destination
          </Button>
        )}
      </Group>
      <ResourceList
        query={query}
        rows={(items) => allRows(items)}
        plural="destinations"
        empty="No destinations yet."
      >
        {(destinations) => (
          <AuditDestinationTable
            destinations={destinations}
            organizationId={organizationId}
            onSecret={showSecret}
          />
        )}
      </ResourceList>
      <Modal opened={isCreating} onClose={() => setCreating(false)} title="New destination">
        <NewAuditDestination
          organizationId={organizationId}
          onCancel={() => setCreating(false)}
          onCreated={(created) => {
            setCreating(false)
            showSecret(created)
            void queries.invalidateQueries({ queryKey: destinationsKey })
          }}
        />
      </Modal>
      {secret && <KeySecret noun="Signing key" {...secret} onClose={() => setSecret(undefined)} />}
    </Card>
  )
}
