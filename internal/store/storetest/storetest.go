// Package storetest is the contract of a store, as a suite that every engine
// passes. A change of what a store promises lands here first.
package storetest

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is everything that a store does, in the words of those who use it.
type Store interface {
	Ping(context.Context) error
	Close() error

	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.IdempotentResponse) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	WorkspaceByName(context.Context, string) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)

	CreateKey(context.Context, feedmill.Key, *feedmill.IdempotentResponse) error
	Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error)
	KeyByHash(context.Context, feedmill.KeyHash) (feedmill.Key, error)
	Keys(context.Context, feedmill.KeyQuery) ([]feedmill.Key, error)
	RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	TouchKeys(context.Context, map[feedmill.ID]time.Time) error
	// KeyByID finds a key, revoked or not.
	KeyByID(context.Context, feedmill.ID) (feedmill.Key, error)

	CreateSession(context.Context, feedmill.Session) error
	// SessionByToken finds the session whose token, present or former, has the
	// hash.
	SessionByToken(context.Context, feedmill.KeyHash) (feedmill.Session, error)
	// RotateSession gives a session another token, unless it has another than
	// from already, and reports whether it did.
	RotateSession(ctx context.Context, id feedmill.ID, from, to feedmill.KeyHash, at time.Time) (bool, error)
	// TouchSession moves when a session was seen last forward, never back.
	TouchSession(ctx context.Context, id feedmill.ID, at time.Time) error
	MoveSession(ctx context.Context, id, workspace feedmill.ID) error
	DeleteSession(ctx context.Context, id feedmill.ID) error
	// ForgetSessions removes up to limit sessions from before a time and
	// reports how many.
	ForgetSessions(ctx context.Context, before time.Time, limit int) (int64, error)

	KeepResponse(context.Context, feedmill.IdempotentResponse) error
	// KeptResponse finds the response kept for an idempotency key of an owner,
	// or one without an owner.
	KeptResponse(ctx context.Context, workspace feedmill.ID, owner, key string, now time.Time) (feedmill.IdempotentResponse, error)
	ForgetResponses(ctx context.Context, now time.Time, limit int) (int64, error)

	// Audit lists the audit log of a workspace, newest first. Every method that
	// makes a change for a client, under a context with feedmill.WithAudit,
	// leaves its entries in the transaction of the change.
	Audit(ctx context.Context, workspace feedmill.ID, q feedmill.AuditQuery) ([]feedmill.AuditEntry, error)
	// ForgetAudit removes up to limit entries from before a time and reports
	// how many.
	ForgetAudit(ctx context.Context, before time.Time, limit int) (int64, error)

	SignIns

	// WriteDeliveryCounts writes counts, in place of what their writers wrote of the
	// same before, and DeliveryCounts are those of a subscription from the stretch
	// of time on that a time is in.
	WriteDeliveryCounts(context.Context, []feedmill.DeliveryCount) error
	DeliveryCounts(ctx context.Context, subscription feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error)
	// SumDeliveryCounts are those of subscriptions since a time without Times: for each
	// one of all before fresh, which has no writer, and those from then on.
	SumDeliveryCounts(ctx context.Context, subscriptions []feedmill.ID, since, fresh time.Time) ([]feedmill.DeliveryCount, error)
	ForgetDeliveryCounts(ctx context.Context, before time.Time, limit int) (int64, error)

	// ReportProcess writes what a process says of itself, and a point of what it did,
	// Processes and ProcessPoints are what all of them said since a time, and
	// ForgetProcess removes what one that ends has said.
	ReportProcess(ctx context.Context, report feedmill.ProcessReport, point *feedmill.ProcessReport) error
	ForgetProcess(ctx context.Context, process string) error
	Processes(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
	ProcessPoints(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)

	VaultKeyset(context.Context) ([]byte, error)
	SwapVaultKeyset(ctx context.Context, old, new []byte) error

	// CreateFeed adds a feed with what is new with it, its events and the kept
	// response, all or none. The feed is written as it is given: one with a
	// version is as feedmill.Feed.Switch leaves it. A Number that is not 1 is
	// feedmill.ErrConflict. One of type rest without a Source is one more feed
	// of a source that is there; where it is not, that is feedmill.ErrNotFound.
	// The files of the version are on disk before. The deliveries of the
	// events are offered, as Accept returns them. All this is so for the changes of
	// feeds and sources below.
	CreateFeed(ctx context.Context, n feedmill.NewFeed, events []feedmill.Event, response *feedmill.IdempotentResponse) error
	// Feed finds one, with its last refresh.
	Feed(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error)
	// Feeds lists feeds, newest first.
	Feeds(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Feed, error)
	// SearchFeeds finds a part of the feeds of a workspace, with how many there are. A
	// place stays where it is when feeds are made, changed and deleted: whatever has
	// not changed is found once by whoever goes from part to part.
	SearchFeeds(ctx context.Context, workspace feedmill.ID, q feedmill.FeedSearch) (feedmill.FeedsFound, error)
	// FeedSource finds the source behind a feed of the workspace.
	FeedSource(ctx context.Context, workspace, feed feedmill.ID) (source feedmill.ID, err error)
	// ChangeFeed changes a feed, alone with it, and accepts the events of the
	// change and keeps its response in the same transaction. It writes every
	// field but the id, the workspace, the source, the type, the version, the
	// last refresh and CreatedAt. An error of change leaves everything as it
	// was. Where the transaction is tried again change is called again, and
	// the last time counts; it must not call the store. All this is so for
	// SwitchVersion and RecordRefresh too.
	ChangeFeed(ctx context.Context, workspace, id feedmill.ID, change FeedChange) (feedmill.Feed, error)
	// SwitchVersion makes v the current version of its feed where the version
	// before it, by its number, is the current one; where it is not, because
	// of another switch, that is feedmill.ErrConflict and nothing is written.
	// The refresh is written as RecordRefresh does. change gets the feed as
	// feedmill.Feed.Switch leaves it. The files of v are on disk before. Refreshes of
	// the feeds that are built from it are requested in the same transaction, as
	// feedmill.SourceChange.Follow does; ChangeSource does so, too.
	SwitchVersion(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, r feedmill.Refresh, change FeedChange) (feedmill.Feed, error)
	// RecordRefresh writes a refresh that made no version: one that failed,
	// that found nothing new, or that begins. It becomes the last one of its
	// feed; one with the same id is written over. change gets the feed as
	// feedmill.Feed.Record leaves it.
	RecordRefresh(ctx context.Context, workspace feedmill.ID, r feedmill.Refresh, change FeedChange) (feedmill.Feed, error)
	// DeleteFeed deletes a feed, and with it its versions and refreshes from
	// sight, and accepts the events of that. The versions' files may go
	// feedmill.KeepDeletedFor after at. The source goes with the last feed of
	// it, and with it the lease of a run that is under way. Feeds that are built from it
	// are requested as by a new version.
	DeleteFeed(ctx context.Context, workspace, id feedmill.ID, at time.Time, events []feedmill.Event) error

	// FeedParents lists the feeds that a feed is built from, also those that were deleted,
	// and FeedChildren the feeds that are built from a feed, newest first.
	FeedParents(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.ID, error)
	FeedChildren(ctx context.Context, workspace, id feedmill.ID) ([]feedmill.FeedReference, error)
	// UnlinkedFeeds lists feeds of earlier releases that have no links to their parents
	// yet. MarkLinked takes one from the list.
	UnlinkedFeeds(ctx context.Context, limit int) ([]feedmill.Feed, error)
	MarkLinked(ctx context.Context, workspace, id feedmill.ID) error

	// FeedVersion finds a version of a feed that is there, kept or not.
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
	// FeedVersions lists up to limit versions that are kept at a time, newest
	// first, with numbers below before; 0 means from the newest on. Of a feed
	// that is not there it lists none.
	FeedVersions(ctx context.Context, workspace, feed feedmill.ID, at time.Time, before int64, limit int) ([]feedmill.FeedVersion, error)
	// PinVersion pins a version that is kept at a time, so that it is not
	// forgotten, or lets it go.
	PinVersion(ctx context.Context, workspace, feed feedmill.ID, number int64, pinned bool, at time.Time) (feedmill.FeedVersion, error)
	Tended
	// CrowdedVersions lists up to limit versions, the current ones of their
	// feeds, that have more than feedmill.CrowdedFiles files.
	CrowdedVersions(ctx context.Context, limit int) ([]feedmill.VersionRef, error)
	// JoinFiles puts a file in the place of those of which it has the rows, in
	// the version of a number and in later ones where take allows it. Versions
	// that do not have all of them, one behind the other, stay as they are, and
	// it is feedmill.ErrConflict where that is so for all.
	JoinFiles(ctx context.Context, of feedmill.VersionRef, files []string, joined feedmill.VersionFile, take func(feedmill.FeedVersion, *feedmill.VersionFile) bool) error
	// Refresh finds a refresh of a feed.
	Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error)
	// Refreshes lists the refreshes of a feed, newest first. Of a feed that is
	// not there it lists none.
	Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error)

	// ForgetVersions removes up to limit versions, in any workspace, that need
	// not be kept any more at now, and returns the names of the files that
	// nothing has any more, for the caller to note: what it does not come to
	// is found again by UnusedFiles. It reports whether there may be more.
	ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error)
	// ForgetRefreshes does the same for refreshes that began before the time
	// given (which is the time in their id), and their traces. The last one of
	// a feed stays, and so does one that has not ended while its feed is there.
	ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []string, more bool, err error)
	// StoredFiles adds up the tables of a workspace that ForgetVersions has not
	// come to, those of deleted feeds too, and names each original beside them
	// once.
	StoredFiles(ctx context.Context, workspace feedmill.ID) (bytes int64, originals []string, err error)
	// UnusedFiles are those of the names that no version and no refresh has.
	// A file is on disk before its version is: only of one that has been there
	// for longer than an upload can take does this say that it is an orphan.
	UnusedFiles(ctx context.Context, names []string) ([]string, error)
	// StoredFile finds a Parquet file that versions have, with its sums. Those are
	// written with the first version that has the file, or the export.
	StoredFile(ctx context.Context, name string) (feedmill.StoredFile, error)
	// SourceFiles lists the files of the current versions of a source's feeds, without
	// exports.
	SourceFiles(ctx context.Context, workspace, source feedmill.ID) ([]string, error)
	CurrentFiles(ctx context.Context, after string, limit int) ([]string, error)
	// NoteVerified notes that a file was read in full now, by the clock of the
	// database, and its sums where they were not known.
	NoteVerified(ctx context.Context, name string, sums feedmill.FileSums) error
	// UnverifiedFiles lists up to limit files whose names come after one and that were not
	// read in full for feedmill.ScrubEvery, by their names.
	UnverifiedFiles(ctx context.Context, after string, limit int) ([]string, error)
	// MarkUnreferenced notes that nothing has some files, from now on by the clock
	// of the database. Those that were noted before keep their times.
	MarkUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error
	// ExpiredFiles lists files that were noted so long ago, and those with which the
	// files that wait for a workspace take more than most bytes; zero is any number.
	ExpiredFiles(ctx context.Context, wait time.Duration, most int64, limit int) ([]string, error)
	// ForgetUnreferenced removes such notes, and the sums of the files that no version has.
	ForgetUnreferenced(ctx context.Context, names []string) error

	// CreateLink adds a link to a feed, and keeps the response of the request in
	// the same transaction. A feed that is not there is feedmill.ErrNotFound.
	CreateLink(ctx context.Context, l feedmill.Link, response *feedmill.IdempotentResponse) error
	// Links lists the links of a feed, newest first.
	Links(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Link, error)
	// LinkByHash finds a link, expired or not. It goes with its feed.
	LinkByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Link, error)
	// DeleteLink revokes a link of a feed.
	DeleteLink(ctx context.Context, workspace, feed, id feedmill.ID) error
	// CountLink counts a reading of a link. One that is not there is no error.
	CountLink(ctx context.Context, l feedmill.Link, at time.Time) error

	// Source finds a source. Uploads have none.
	Source(ctx context.Context, workspace, id feedmill.ID) (feedmill.Source, error)
	// ChangeSource changes a source and its feeds, alone with them, and writes
	// in the same transaction what the change says is to be written with it.
	// A version that is not the next of its feed is feedmill.ErrConflict, and
	// of a feed that the source does not have nothing can be written, which is
	// feedmill.ErrNotFound. A refresh that is not the LastRefresh of its feed
	// in the end is an older one. The ids, workspaces, types, CreatedAt, and
	// versions other than by Versions, stay as they are. Feeds that change
	// appends are new ones of the source; none can be taken away. An error of change is returned as it is, and leaves
	// everything as it was. Where the transaction is tried again change is
	// called again, with what it finds then, and the last time counts; it must
	// not call the store.
	ChangeSource(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error) error
	// DueSources are up to limit sources, in any workspace, that are due at now
	// and that no run has then, in the order in which they became due; at most
	// each of those of one workspace that ask the same host.
	DueSources(ctx context.Context, now time.Time, each, limit int) ([]feedmill.DueSource, error)
	// ReleaseSources ends all leases of a holder that is known to be gone, and counts
	// them.
	ReleaseSources(ctx context.Context, holder string) (int64, error)
	// RenewSource extends the lease of a run to a time, and notes the requests,
	// pages, bytes and rows of those of its refreshes that are running; no
	// feed is touched. A run that does not have the lease any more, because it
	// has ended or another has begun, gets feedmill.ErrConflict.
	RenewSource(ctx context.Context, workspace, id feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error
	// RefreshTrace is what was asked for in a refresh of a feed; none where
	// nothing was.
	RefreshTrace(ctx context.Context, workspace, feed, id feedmill.ID) ([]feedmill.TracedRequest, error)

	Connections

	// CreateSubscriptions adds all of them or none. With most, which is for
	// subscriptions or for listeners and not for both together, their
	// workspace has no more than that in the end, whoever else adds some at the
	// same time; else that is a feedmill.QuotaError.
	CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error
	// Subscription finds one that is not deleted.
	Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	// Subscriptions lists those that are not deleted, newest first.
	Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error)
	SubscriptionStandings(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.SubscriptionStanding, error)
	// ChangeSubscription changes one that is not deleted, alone with it. It
	// writes every field but the id, the workspace, CreatedAt and DeletedAt. An
	// error of change leaves everything as it was. A subscription that becomes
	// disabled has up to feedmill.DiscardStep of its open deliveries discarded in the
	// same transaction, ended at its UpdatedAt.
	ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error)
	// DeleteSubscription deletes one and discards up to feedmill.DiscardStep of its
	// open deliveries. The record stays, with DeletedAt, for its deliveries.
	DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	// SubscriptionForDelivery finds one in any workspace, deleted or not.
	SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error)
	// SubscriptionsForDelivery are those of some ids that are there, in any
	// workspace, deleted or not.
	SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error)
	// StoredSubscriptions are up to limit of all workspaces, deleted ones and
	// listeners among them, behind an id and in the order of their ids.
	StoredSubscriptions(ctx context.Context, after feedmill.ID, limit int) ([]feedmill.Subscription, error)
	// ReplaceURLs writes URLs in another form, where they are what they were, and
	// changes nothing else.
	ReplaceURLs(ctx context.Context, changes []feedmill.URLChange) error

	// Listener finds one that is not deleted. A listener is a subscription
	// that no other method for subscriptions finds, changes, counts or
	// deletes, but for CreateSubscriptions and SubscriptionForDelivery.
	Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	// ExtendListener moves the end of a listener in any workspace, never to an
	// earlier time. One that is deleted is feedmill.ErrNotFound.
	ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error
	// DeleteListener deletes one as DeleteSubscription does.
	DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	// ExpireListeners deletes up to limit listeners, in any workspace, whose end
	// is not after now, and reports how many.
	ExpireListeners(ctx context.Context, now time.Time, limit int) (int, error)

	// Accept writes events and, for each, a delivery to every subscription
	// that matches: pending and due at once with the number of attempts
	// that the store was opened with, or that of the subscription's own schedule, or discarded where the subscription is disabled. An event
	// whose DedupeKey is known, from before or from earlier in the same call,
	// is a duplicate and written nowhere. respond, where not nil, makes the
	// response to keep, in the transaction; where that is tried again it is
	// called again, and the last time counts. The deliveries that are due are
	// returned in the order of their Seq. A delivery's CreatedAt is the time in
	// its id; the events of one call get their deliveries in the order given.
	//
	// Where a call would make more than feedmill.MaxMadeAtOnce, some events are
	// written with the promise of their deliveries, which StepFanout makes for
	// the subscriptions that there were at acceptance. An event that an ordered
	// subscription hears of is promised, too, while one before it of the same
	// resource is.
	Accept(ctx context.Context, events []feedmill.Event, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error)
	FanOuts
	// Events lists events, newest first, with their payloads.
	Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error)
	Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error)
	// EventRoutes are the first limit deliveries of each event, oldest first.
	EventRoutes(ctx context.Context, workspace feedmill.ID, events []feedmill.ID, limit int) (map[feedmill.ID][]feedmill.EventRoute, error)

	Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error)
	Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error)
	// DeliveryAttempts lists the attempts of a delivery, first to last.
	// LastAttempts are the last attempts of those deliveries that were tried: when, how
	// long, with which status and error, and without the answers.
	LastAttempts(ctx context.Context, deliveries []feedmill.Delivery) (map[feedmill.ID]feedmill.Attempt, error)
	DeliveryAttempts(ctx context.Context, delivery feedmill.ID) ([]feedmill.Attempt, error)
	// RetryDelivery makes a delivery pending and due at now with add more
	// attempts allowed than it has made, or as many as its subscription's own
	// schedule makes. respond is as with Accept. One
	// that is pending, or whose subscription is deleted or disabled, is
	// feedmill.ErrConflict.
	RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, respond func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error)

	// HastenRetries makes up to limit deliveries of a subscription that wait
	// for their next attempt, which is later than now, due at now, and reports
	// how many.
	HastenRetries(ctx context.Context, subscription feedmill.ID, now time.Time, limit int) (int, error)
	// Backlogs counts what is open of subscriptions, as far as most of each
	// state.
	Backlogs(ctx context.Context, subscriptions []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error)

	// Rewind puts right what retries in the slots wait for after the clock
	// was set back to now: one whose last attempt lies in the future waits as
	// long from now on as it was to wait from that attempt on. It looks at up
	// to limit retries behind after, and returns how far it came and whether
	// there may be more.
	Rewind(ctx context.Context, slots []int, now time.Time, after feedmill.RetryPosition, limit int) (reached feedmill.RetryPosition, more bool, err error)
	// DueSubscriptions are up to limit subscriptions, in the given slots and
	// after the id after, that have an open delivery due at now; in the order
	// of their ids.
	DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error)
	// Due lists open deliveries of a subscription that are due: retries whose
	// time has come, by that time, and then what is pending, in the order of
	// acceptance; behind the one that the query names, what is pending alone.
	// With Heads, which is for ordered subscriptions, only those that are the
	// first open delivery (by Seq) of their resource: in the order of
	// resources, all or those behind one; or of some resources, and with Each what
	// is behind these; or those of which an attempt has failed, by their time.
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	// Settle writes outcomes, each with its attempt, and what they mean for their
	// subscriptions, all or none. A delivery that is not open any more keeps its state, but
	// its attempt is written; of one that is not there nothing is. One that was discarded
	// while it arrived is delivered. Attempts get the next number of their delivery,
	// whatever Number says: two senders may have thought theirs to be the same. A Notice is
	// accepted like any event; the deliveries it makes are returned. Disable has effect, and
	// its Notice is written, only where the subscription is not disabled or deleted already
	// and was not changed since At, and for the reason DisabledFailing only where it is
	// active, has FailuresToDisable failures, and its FailingSince is as long ago as its
	// settings say; it discards open deliveries as ChangeSubscription does. Warn has effect,
	// with its Notice, only where WarnedAt is zero. Succeeded clears WarnedAt, FailingSince
	// and Failures; Failed sets FailingSince where it is zero, and counts.
	Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error)
	// DiscardOpen discards up to limit open deliveries of a subscription that is
	// disabled or deleted, and reports how many. Of any other it discards none.
	DiscardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (int, error)
	// HoldOpen makes up to limit retrying deliveries of a subscription
	// pending, as those of a paused one are, and reports how many. When they
	// are due, and how often they were tried, stays.
	HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (int, error)
	// OrderOpen makes Due with Heads see up to limit open deliveries that were
	// accepted before their subscription became ordered. It reports whether
	// there may be more.
	OrderOpen(ctx context.Context, subscription feedmill.ID, limit int) (more bool, err error)
	// Place says what keeps the records, and where.
	Place(context.Context) (feedmill.StorePlace, error)

	// OpenWork counts open deliveries, as far as feedmill.MaxCountedBacklog, and
	// finds the oldest due time among those whose subscription is not paused, for
	// metrics; zero where there are none.
	OpenWork(ctx context.Context, now time.Time) (open int64, oldestDue time.Time, err error)

	// CreateReplay begins a replay of what feedmill.NewReplay made, as far as it
	// has been counted.
	CreateReplay(context.Context, feedmill.Replay, *feedmill.IdempotentResponse) error
	// CountReplay counts the next part of what a replay selects, looking at a
	// number of records that goes by limit, and returns the replay with it. It
	// writes nothing.
	CountReplay(ctx context.Context, r feedmill.Replay, limit int) (feedmill.Replay, error)
	// Replay finds a replay of a subscription.
	Replay(ctx context.Context, workspace, subscription, id feedmill.ID) (feedmill.Replay, error)
	// CancelReplay ends a replay that goes on; one that has ended is
	// feedmill.ErrConflict.
	CancelReplay(ctx context.Context, workspace, subscription, id feedmill.ID, at time.Time) error
	// StepReplay counts a part of one unfinished replay, or makes up to limit
	// new deliveries for it and no more than its rate allows, and notes how far
	// it came, in one transaction. It reports whether there was one whose time
	// has come, and if not, when there will be; zero where all are finished. Of
	// a replay of missing events no event gets a second delivery. One whose
	// subscription is deleted or disabled is cancelled.
	StepReplay(ctx context.Context, now time.Time, limit int) (worked bool, next time.Time, err error)

	// LeaseSlots renews the slots that a replica holds, for ttl, takes others
	// up to its fair share of the replicas that are alive, and returns all of
	// them and that share. What it holds beyond it is to be given back.
	// A store that has one process at a time gives it all of them.
	LeaseSlots(ctx context.Context, replica string, ttl time.Duration) (held []int, share int, err error)
	// LeaveReplicas takes a replica out of those that have a share, so that the
	// others may have what it gives back. What it holds still stays its own.
	LeaveReplicas(ctx context.Context, replica string) error
	// ReleaseSlots gives slots back; nil means all that the replica holds, and
	// that it goes away.
	ReleaseSlots(ctx context.Context, replica string, slots []int) error

	// Prune removes events, with their deliveries and attempts, that were
	// accepted before the time given (which is the time in their id, whatever
	// their timestamp says), and prepares room for those to come. It removes a
	// bounded number at a time and reports whether there is more. What has
	// open deliveries stays.
	Prune(ctx context.Context, now, before time.Time) (more bool, err error)
}

// FeedChange changes a feed and returns what is written with the change: the
// response to keep, nil where there is none, and the events that tell of it.
type FeedChange = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)
