import { LegalHolds } from './legal-holds'
import { AuditDestinations } from '../../audit-destinations/audit-destinations'
import { Page } from '../../../components/page'
import { PermittedForms } from '../../../components/permitted'

export const AuditDeliveryPage = () => (
  <Page
    title="Audit delivery"
    about="Where audit logs are sent, and what legal holds keep from deletion."
  >
    <PermittedForms to="POST /api/admin/audit-destinations">
      <AuditDestinations about="Each gets the audit log of operators, and those of all organizations." />
    </PermittedForms>
    <LegalHolds />
  </Page>
)
